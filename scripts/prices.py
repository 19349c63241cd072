#!/usr/bin/env python3
"""Make plimsoll's price list of AWS's own: scripts/prices.py FILE > prices.csv

FILE is the offer file of AmazonEC2 for one region, index.json; its form is described at
docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-file.html. What is taken of it are Linux
instances on demand with shared tenancy and nothing pre-installed, and EBS volumes. It needs no other file of plimsoll, opens no
connection, and holds the file's text in memory, some 300 MB. What is wrong in the file is an error, and nothing is printed.
"""
import csv, decimal, json, sys

HOUR, GIB, IOPS, MIB = 'hour', 'GiB-month', 'IOPS-month', 'MiB/s-month'
# What a volume brings and the list does not state; a test holds them against the catalogue.
INCLUDED = {('gp3', IOPS): 3000, ('gp3', MIB): 125}


def wanted(product):
    """The product and the unit that a product of the list is here; None for all others."""
    a = product.get('attributes', {})
    volume, usage = a.get('volumeApiName'), a.get('usagetype', '')
    family = product.get('productFamily')
    if family == 'Compute Instance':
        plain = [a.get(k) for k in ('operatingSystem', 'tenancy', 'preInstalledSw', 'capacitystatus')]
        return (a['instanceType'], HOUR) if plain == ['Linux', 'Shared', 'NA', 'Used'] else None
    for of, mark, unit in (('Storage', '', GIB), ('System Operation', 'EBS:VolumeP-IOPS', IOPS),
                           ('Provisioned Throughput', 'EBS:VolumeP-Throughput', MIB)):
        if volume and family == of and mark in usage:
            return volume, unit


def small(value):
    """Drops products while they are read, which are 99 % of the file."""
    return None if 'productFamily' in value and not wanted(value) else value


def rows(offer):
    day = offer['publicationDate'][:10]
    for sku, product in offer['products'].items():
        if product is None or not wanted(product):
            continue
        name, unit = wanted(product)
        for term in offer['terms']['OnDemand'].get(sku, {}).values():
            for d in term['priceDimensions'].values():
                usd, above = decimal.Decimal(d['pricePerUnit'].get('USD', 0)), float(d.get('beginRange') or 0)
                if not usd:  # what is free is no tier of its own
                    continue
                if d['unit'].startswith('GiBps'):  # the list prices the GiB/s, plimsoll the MiB/s
                    usd, above = usd / 1024, above * 1024
                above = above or INCLUDED.get((name, unit), 0)
                usd = f'{usd.quantize(decimal.Decimal("0.000001"), decimal.ROUND_HALF_UP):f}'.rstrip('0').rstrip('.')
                yield (name, unit, above if unit in (IOPS, MIB) else '', usd, product['attributes'].get('regionCode', ''),
                       day, 'AWS price list', 'verified')


def main():
    with open(sys.argv[1]) as f:
        found = sorted(rows(json.load(f, object_hook=small)), key=lambda r: (r[1] == HOUR, r[0], r[1], r[2] or 0))
    if not found:
        sys.exit('prices: no product of it is a Linux instance or an EBS volume')
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow('product unit above usd region as_of source trust'.split())
    out.writerows([r if r[2] == '' else r[:2] + (f'{r[2]:.0f}',) + r[3:] for r in found])


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: scripts/prices.py FILE > prices.csv (AWS\'s offer file of AmazonEC2, JSON)')
    main()
