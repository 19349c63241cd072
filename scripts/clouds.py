#!/usr/bin/env python3
"""Make the tables of machines in internal/cloud/catalogue again.

usage: scripts/clouds.py [--facts DIR] [--mirror DIR]

DIR of --facts holds azure-machines.csv, gcp-machines.csv, gcp-machine-limits.csv,
gcp-attach-limits.csv, gcp-local-ssd.csv and local-measured.csv, by default ../shared/facts/clouds, and beside DIR
ec2-ebs-limits.csv: figures that were gathered from the vendors' pages and APIs, each row with its source and date. With --mirror, copies
of the repositories that those figures come from (OWNER+NAME/repo, bare git), the files are built
from them first, by DIR/src/build.py of --facts. Without it nothing is read from the sources
themselves, and the script says so.
"""
import argparse, csv, os, re, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
ap = argparse.ArgumentParser()
ap.add_argument('--facts', default=os.path.join(here, '..', '..', 'shared', 'facts', 'clouds'))
ap.add_argument('--mirror')
ap.add_argument('--out', default=os.path.join(here, '..', 'internal', 'cloud', 'catalogue'))
A = ap.parse_args()

facts = A.facts
if A.mirror:
    facts = tempfile.mkdtemp()
    subprocess.run([sys.executable, os.path.join(A.facts, 'src', 'build.py'), '--mirror', A.mirror, '--out', facts], check=True)
else:
    print(f'read from {os.path.relpath(facts)}, not from the sources that its rows name (--mirror)')


def path_of(name):
    path = os.path.join(A.out, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def prices(vendor, region, names):
    """List prices of one region's disks as plimsoll's own price list; of two of one figure the newer."""
    best = {}
    path = os.path.join(A.facts, '..', 'prices', f'{vendor}-disks-prices.csv')
    for r in csv.DictReader(open(path)):
        what, unit = r['what'], r['unit']
        if r['region'] != region or what not in ('capacity', 'instance of tier', 'iops', 'throughput'):
            continue
        product = r['tier_or_size'] or names.get(r['type'])
        if not product:
            continue
        usd = float(r['usd']) * (730 if r['period'] == 'hour' else 1)
        above = (re.search(r'above (\d+)', unit) or [None, ''])[1]
        per = {'capacity': 'GiB-month', 'instance of tier': 'volume-month', 'iops': 'IOPS-month',
               'throughput': ('MB/s' if 'MB/s' in unit else 'MiB/s') + '-month'}[what]
        day = (re.search(r'20\d\d-\d\d-\d\d', r['valid_on']) or ['2026-09-23'])[0]
        key = (product, per)
        if key not in best or day > best[key][5]:
            best[key] = [product, per, above, f'{usd:.6f}'.rstrip('0'), region, day, r['source'], 'partial']
    order = {'GiB-month': 0, 'volume-month': 0, 'IOPS-month': 1}
    with open(path_of(os.path.join(vendor, 'prices.csv')), 'w', newline='') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow('product unit above usd region as_of source trust'.split())
        w.writerows(sorted(best.values(), key=lambda r: (r[0], order.get(r[1], 2))))


prices('azure', 'eastus', {'premium-ssd-v2': 'azure-premium-v2', 'ultra': 'azure-ultra'})
prices('gcp', 'us-central1', {t: 'gcp-' + t for t in '''pd-standard pd-balanced pd-ssd pd-extreme hyperdisk-balanced
    hyperdisk-extreme hyperdisk-throughput hyperdisk-ml'''.split()})


def rows(name):
    with open(os.path.join(facts, name), newline='') as f:
        return list(csv.DictReader(f))


sources = {}


def code(text):
    """A short name for a source, which sources.csv spells out: a row of 60 bytes need not hold 70 more."""
    if not text:
        return ''
    return sources.setdefault(text, f'c{len(sources) + 1}')


def write(name, columns, table):
    with open(path_of(name), 'w', newline='') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow(columns)
        for r in table:
            w.writerow([r.get(c, '') for c in columns])
    print(f'{name}: {len(table)} rows')


def azure():
    out = []
    for r in rows('azure-machines.csv'):
        note = ''
        # A source's fault: the SKU answer of DC8s_v3 has its cached IOPS in the place of bytes too.
        if r['cached_iops'] and r['cached_iops'] == r['cached_mbps']:
            note = 'the source prints ' + r['cached_mbps'] + ' for cached IOPS and throughput alike: both left out'
            r['cached_iops'] = r['cached_mbps'] = r['cached_write_mbps'] = ''
        n = {c: r[c] for c in ('name', 'controller', 'vcpus', 'arch', 'premium', 'listed_2026_08', 'trust', 'as_of', 'cached_iops', 'local_kind', 'local_count', 'local_read_iops', 'local_write_iops')}
        n.update(memory_gib=r['memory_gib'], disks=r['max_data_disks'], base_iops=r['uncached_iops'], base_mbs=r['uncached_mbps'],
                 max_iops=r['burst_iops'], max_mbs=r['burst_mbps'], v2_iops=r['v2_iops'], v2_mbs=r['v2_mbps'],
                 v2_max_iops=r['v2_burst_iops'], v2_max_mbs=r['v2_burst_mbps'], cached_mbs=r['cached_mbps'],
                 cached_write_mbs=r['cached_write_mbps'], cache_gib=r['cache_gib'], local_gib=r['local_gib_each'],
                 local_read_mbs=r['local_read_mbps'], local_write_mbs=r['local_write_mbps'], usd_hour=r['usd_hour_eastus'],
                 source=code(r['limit_source'] or 'Resource SKU answers kept by DarrenJohns/djtools-azure-vm-sku-locator'), note=note)
        # What the API says is kept where a page says something else.
        if r['trust'] == 'page' and (r['api_iops'], r['api_mbps']) != (r['uncached_iops'], r['uncached_mbps']):
            n.update(api_iops=r['api_iops'], api_mbs=r['api_mbps'])
        if r['trust'] == 'no-limit':
            n['as_of'] = r['as_of'] or '2026-08-01'
        n['listed'] = {'yes': 'y'}.get(n.pop('listed_2026_08'), '')
        n['premium'] = {'yes': 'y', 'no': 'n'}.get(n['premium'], '')
        n['trust'] = {'page': 'p', 'api-exact': 'e', 'api-rounded': 'r', 'no-limit': ''}[n['trust']]
        out.append(n)
    write('azure/machines.csv', ['name', 'controller', 'vcpus', 'memory_gib', 'arch', 'premium', 'disks', 'base_iops', 'base_mbs', 'max_iops', 'max_mbs',
                        'v2_iops', 'v2_mbs', 'v2_max_iops', 'v2_max_mbs', 'cached_iops', 'cached_mbs', 'cached_write_mbs', 'cache_gib',
                        'local_kind', 'local_count', 'local_gib', 'local_read_iops', 'local_read_mbs', 'local_write_iops', 'local_write_mbs',
                        'api_iops', 'api_mbs', 'usd_hour', 'listed', 'trust', 'source', 'as_of', 'note'], out)


def google():
    out = []
    for r in rows('gcp-machines.csv'):
        out.append({'name': r['name'], 'vcpus': r['vcpus'], 'memory_gib': r['memory_gib'], 'arch': r['arch'], 'local_count': r['local_count'],
                    'local_gib': r['local_gib_each'], 'usd_hour': r['usd_hour_us_central1'], 'source': code(r['source']), 'as_of': r['as_of']})
    write('gcp/machines.csv', ['name', 'vcpus', 'memory_gib', 'arch', 'local_count', 'local_gib', 'usd_hour', 'source', 'as_of'], out)
    out = []
    for r in rows('gcp-machine-limits.csv'):
        # The table of a2-ultragpu-8g has 1 MiB/s of pd-standard reads: no machine of its kind is so slow.
        if r['note'].startswith('source prints 1 MiB/s'):
            r['read_mibps'] = ''
        series = re.sub(r' .*', '', r['series']).lower()
        out.append({'series': series, 'machine': r['machine'], 'by': r['selector'], 'type': r['disk_type'], 'read_iops': r['read_iops'],
                    'write_iops': r['write_iops'], 'read_mibs': r['read_mibps'], 'write_mibs': r['write_mibps'],
                    # Of Persistent Disk reads and writes share the IOPS, of pd-standard the throughput too.
                    'shared': {'per direction': 'all' if r['disk_type'] == 'pd-standard' else 'iops', 'read+write': 'sum', 'reads only': ''}[r['shared']], 'trust': {'verified': 'v'}.get(r['trust'], 's'),
                    'source': code(r['source']), 'as_of': r['as_of'], 'note': r['note']})
    write('gcp/limits.csv', ['series', 'machine', 'by', 'type', 'read_iops', 'write_iops', 'read_mibs', 'write_mibs', 'shared', 'trust', 'source',
                                'as_of', 'note'], out)
    out = [{'series': r['series'], 'up_to': r['up_to'], 'disks': r['data_disks'], 'source': code(r['source']), 'as_of': r['as_of']}
           for r in rows('gcp-attach-limits.csv')]
    write('gcp/attach.csv', ['series', 'up_to', 'disks', 'source', 'as_of'], out)


def measured():
    for cloud in ('azure', 'gcp'):
        out = [{'name': r['machine'], 'read_iops': r['read_iops'], 'write_iops': r['write_iops'], 'read_bps': r['read_bps'],
                'write_bps': r['write_bps'], 'source': code(r['source']), 'as_of': r['as_of']}
               for r in rows('local-measured.csv') if r['cloud'] == cloud]
        write(cloud + '/measured.csv', ['name', 'read_iops', 'write_iops', 'read_bps', 'write_bps', 'source', 'as_of'], out)


def aws():
    released = {'moto-5.2.5': '2026-10-27', 'moto-5.1.0': '2025-02-23', 'moto-5.0.0': '2024-01-27', 'moto-4.2.0': '2023-08-23'}
    out = []
    for r in rows(os.path.join('..', 'ec2-ebs-limits.csv')):
        count, _, size = r['nvme_local'].partition('x')
        out.append({'name': r['instance_type'], 'arch': r['arch'], 'vcpus': r['vcpus'], 'memory_gib': f"{float(r['memory_mib']) / 1024:.15g}",
                    'base_iops': r['ebs_baseline_iops'], 'base_mbs': r['ebs_baseline_throughput_mbs'], 'max_iops': r['ebs_max_iops'],
                    'max_mbs': r['ebs_max_throughput_mbs'], 'local_count': count, 'local_gb': size,
                    'xen': '' if r['ebs_nvme'] == 'required' else 'y', 'disks': r['max_ebs_attachments'],
                    'weightings': r['bandwidth_weightings'], 'trust': 'v',
                    'source': code(f"EC2 DescribeInstanceTypes ({r['dataset']})"), 'as_of': released[r['dataset']]})
    write('aws/machines.csv', ['name', 'arch', 'vcpus', 'memory_gib', 'base_iops', 'base_mbs', 'max_iops', 'max_mbs', 'local_count', 'local_gb',
                               'xen', 'disks', 'weightings', 'trust', 'source', 'as_of'], out)


def local():
    # The source counts drives; each row has what they reach together.
    out = [{'kind': r['kind'], 'drives': r['disks'], 'gib': r['gib_each'], 'read_iops': r['read_iops'], 'write_iops': r['write_iops'],
            'read_mibs': r['read_mibps'], 'write_mibs': r['write_mibps'], 'source': code(r['source']), 'as_of': r['as_of']}
           for r in rows('gcp-local-ssd.csv')]
    write('google-local.csv', ['kind', 'drives', 'gib', 'read_iops', 'write_iops', 'read_mibs', 'write_mibs', 'source', 'as_of'], out)


azure()
google()
measured()
local()
aws()
# aws/local.csv and aws/measured.csv were read once, and are not made here.
page = 'docs.aws.amazon.com/ec2/latest/instancetypes/%s.html, as c2hans/aws-docs kept it'
sources.update({page % p: 'a26-' + p for p in ('ac', 'co', 'gp', 'mo', 'so')})
sources['awsdocs/amazon-ec2-user-guide d289961: pages of the instance families'] = 'a23'
sources['scylladb/scylla-machine-image aws_io_params.yaml'] = 'a-scylla'
write('sources.csv', ['code', 'source'], [{'code': c, 'source': s} for s, c in sources.items()])
