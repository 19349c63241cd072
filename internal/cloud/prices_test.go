package cloud

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

// Worked out by hand from AWS's monthly prices of 2026-07.
func TestVolumePrices(t *testing.T) {
	const mib = units.MiBPerSec
	p := BuiltinPrices()
	for _, c := range []struct {
		n    int
		spec VolumeSpec
		want string
	}{
		{8, VolumeSpec{Type: "gp3", Size: 50 * units.GiB, IOPS: 3000, Rate: 125 * mib}, "$32.00"},
		{8, VolumeSpec{Type: "gp3", Size: 50 * units.GiB, IOPS: 3500, Rate: 149 * mib}, "$59.68"},
		{4, VolumeSpec{Type: "gp3", Size: 3000 * units.GiB, IOPS: 9000, Rate: 141 * mib}, "$1,082.56"},
		{12, VolumeSpec{Type: "gp3", Size: 1000 * units.GiB, IOPS: 3000, Rate: 125 * mib}, "$960.00"},
		{4, VolumeSpec{Type: "gp2", Size: 3000 * units.GiB, IOPS: 0, Rate: 0}, "$1,200.00"},
		{1, VolumeSpec{Type: "gp3", Size: 8 * units.GiB, IOPS: 3000, Rate: 336 * mib}, "$9.08"},
		{1, VolumeSpec{Type: "io2", Size: 8 * units.GiB, IOPS: 2304, Rate: 0}, "$150.76"},
		{1, VolumeSpec{Type: "gp3", Size: 500 * units.GiB, IOPS: 16000, Rate: 1000 * mib}, "$140.00"},
		{8, VolumeSpec{Type: "gp3", Size: 63 * units.GiB, IOPS: 3000, Rate: 125 * mib}, "$40.32"},
		{1, VolumeSpec{Type: "io2", Size: 500 * units.GiB, IOPS: 16000, Rate: 0}, "$1,102.50"},
		{1, VolumeSpec{Type: "io2", Size: 1024 * units.GiB, IOPS: 64000, Rate: 0}, "$3,664.00"},
		{1, VolumeSpec{Type: "io2", Size: 1024 * units.GiB, IOPS: 100000, Rate: 0}, "$4,810.60"},
	} {
		month, ok := p.Volume(c.spec)
		if got := (month * USD(c.n)).String(); !ok || got != c.want {
			t.Errorf("%d × %+v: %s, want %s", c.n, c.spec, got, c.want)
		}
	}
	if _, ok := p.Volume(VolumeSpec{Type: "azure-ultra"}); ok {
		t.Error("azure-ultra has a price from nowhere")
	}
}

func TestInstancePrices(t *testing.T) {
	p := BuiltinPrices()
	for typ, want := range map[string]string{
		"c8g.2xlarge": "$232.90", "c6in.2xlarge": "$331.13", "c8gb.2xlarge": "$346.02", "c6gn.2xlarge": "$252.29",
		"m6g.12xlarge": "$1,349.04", "m5.12xlarge": "$1,681.92", "c8gb.large": "$86.51", "r5b.2xlarge": "$435.08", "r6in.2xlarge": "$509.04",
	} {
		if month, ok := p.Instance(typ); !ok || month.String() != want {
			t.Errorf("%s: %v a month, want %s", typ, month, want)
		}
	}
	// Types without a price stay without one.
	missing := 0
	for _, typ := range ec2Names() {
		if _, ok := p.Instance(typ); !ok {
			missing++
		}
	}
	if _, ok := p.Instance("r9g.large"); ok || missing != 55 || len(p.Instances) != 1367 {
		t.Errorf("%d of the catalogue's types have no price, want 55; r9g.large %t; %d prices", missing, ok, len(p.Instances))
	}
}

func TestUSD(t *testing.T) {
	for u, want := range map[USD]string{0: "$0.00", 4_999: "$0.00", 5_000: "$0.01", 1_477_253_000: "$1,477.25", -1_500_000: "-$1.50"} {
		if u.String() != want {
			t.Errorf("%d prints as %s, want %s", u, u, want)
		}
	}
	for _, text := range []string{"", "free", "-1", "NaN", "1e12", "Inf"} {
		if v, err := ParseUSD(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, v)
		}
	}
	if v, err := ParseUSD("0.0318500000"); err != nil || v.Exact() != "0.03185" {
		t.Errorf("0.03185: %d, %v", v, err)
	}
}

func TestStale(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for asOf, want := range map[string]bool{"2026-07-20": false, "2026-07": false, "2025-11-21": false, "2025-11-20": true, "2024": true, "soon": true} {
		if got := (Provenance{AsOf: asOf}).Stale(now); got != want {
			t.Errorf("%s: stale %t, want %t", asOf, got, want)
		}
	}
}

// offer is a price list in AWS's form, cut to one product of each kind, and two that are not to be
// taken.
const offer = `{"formatVersion":"v1.0","disclaimer":"…","offerCode":"AmazonEC2","version":"20261101000000","publicationDate":"2026-11-01T00:00:00Z",
"products":{
 "A":{"sku":"A","productFamily":"Compute Instance","attributes":{"instanceType":"c8g.2xlarge","operatingSystem":"Linux","tenancy":"Shared","preInstalledSw":"NA","capacitystatus":"Used","regionCode":"eu-north-1"}},
 "B":{"sku":"B","productFamily":"Compute Instance","attributes":{"instanceType":"c8g.2xlarge","operatingSystem":"Windows","tenancy":"Shared","preInstalledSw":"NA","capacitystatus":"Used","regionCode":"eu-north-1"}},
 "C":{"sku":"C","productFamily":"Storage","attributes":{"volumeApiName":"gp3","usagetype":"EUN1-EBS:VolumeUsage.gp3","regionCode":"eu-north-1"}},
 "D":{"sku":"D","productFamily":"System Operation","attributes":{"volumeApiName":"gp3","usagetype":"EUN1-EBS:VolumeP-IOPS.gp3","regionCode":"eu-north-1"}},
 "E":{"sku":"E","productFamily":"Provisioned Throughput","attributes":{"volumeApiName":"gp3","usagetype":"EUN1-EBS:VolumeP-Throughput.gp3","regionCode":"eu-north-1"}},
 "F":{"sku":"F","productFamily":"System Operation","attributes":{"volumeApiName":"io2","usagetype":"EUN1-EBS:VolumeP-IOPS.io2.tier2","regionCode":"eu-north-1"}},
 "G":{"sku":"G","productFamily":"System Operation","attributes":{"volumeApiName":"io2","usagetype":"EUN1-EBS:VolumeP-IOPS.io2","regionCode":"eu-north-1"}},
 "H":{"sku":"H","productFamily":"Data Transfer","attributes":{}}},
"terms":{"Reserved":{"A":{"x":[1,{"y":[]}]}},"OnDemand":{
 "A":{"A.J":{"priceDimensions":{"A.J.6":{"unit":"Hrs","beginRange":"0","endRange":"Inf","pricePerUnit":{"USD":"0.3408000000"}}}}},
 "C":{"C.J":{"priceDimensions":{"C.J.6":{"unit":"GB-Mo","beginRange":"0","pricePerUnit":{"USD":"0.0836000000"}}}}},
 "D":{"D.J":{"priceDimensions":{"D.J.6":{"unit":"IOPS-Mo","beginRange":"3000","pricePerUnit":{"USD":"0.0052000000"}},"D.J.7":{"unit":"IOPS-Mo","beginRange":"0","pricePerUnit":{"USD":"0.0000000000"}}}}},
 "E":{"E.J":{"priceDimensions":{"E.J.6":{"unit":"GiBps-mo","beginRange":"0","pricePerUnit":{"USD":"40.9600000000"}}}}},
 "F":{"F.J":{"priceDimensions":{"F.J.6":{"unit":"IOPS-Mo","beginRange":"32000","pricePerUnit":{"USD":"0.0476000000"}}}}},
 "G":{"G.J":{"priceDimensions":{"G.J.6":{"unit":"IOPS-Mo","beginRange":"0","endRange":"32000","pricePerUnit":{"USD":"0.0680000000"}}}}}}}}`

// AWS's own list becomes one of plimsoll's by scripts/prices.py: what is included, what is priced by the GiB/s, and what is not wanted.
func TestReadOffer(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: python3 is missing, which scripts/prices.py is run by")
	}
	made := func(offer string) (string, error) {
		file := filepath.Join(t.TempDir(), "index.json")
		if err := os.WriteFile(file, []byte(offer), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(python, "../../scripts/prices.py", file).Output()
		return string(out), err
	}
	list, err := made(offer)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ReadPrices(strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	gp3, _ := p.Volume(VolumeSpec{Type: "gp3", Size: 100 * units.GiB, IOPS: 4000, Rate: 225 * units.MiBPerSec})
	io2, _ := p.Volume(VolumeSpec{Type: "io2", Size: 0, IOPS: 33000, Rate: 0})
	if month, _ := p.Instance(
		"c8g.2xlarge",
	); month.String() != "$248.78" || gp3.String() != "$17.56" || io2.String() != "$2,223.60" ||
		p.Region != "eu-north-1" || len(p.Instances) != 1 ||
		p.InstanceSource.AsOf != "2026-11-01" {
		t.Errorf("c8g.2xlarge %v, gp3 %v, io2 %v, %+v", month, gp3, io2, p)
	}
	for _, kind := range VolumeTypes() { // what the script says that a volume brings
		if v := p.Volumes[kind.Type]; kind.Type == "gp3" && (v.IOPS[0].Above != float64(kind.IOPS.Included) ||
			v.Rate[0].Above != float64(kind.Rate.Included/units.MiBPerSec)) {
			t.Errorf("%+v", v)
		}
	}
	if list, err = made(strings.Replace(offer, `"beginRange":"0","pricePerUnit":{"USD":"40.9600000000"`,
		`"beginRange":"2","pricePerUnit":{"USD":"20.48"`, 1)); !strings.Contains(list, "gp3,MiB/s-month,2048,0.02,") || err != nil {
		t.Error(list, err)
	}
	for _, other := range []string{
		`"operatingSystem":"RHEL"`, `"tenancy":"Dedicated"`, `"preInstalledSw":"SQL Std"`, `"capacitystatus":"AllocatedCapacityReservation"`,
	} {
		key, _, _ := strings.Cut(other, ":")
		list, err := made(regexp.MustCompile(key+`:"(Linux|Shared|NA|Used)"`).ReplaceAllString(offer, other))
		if err != nil || strings.Contains(list, "c8g") || !strings.Contains(list, "gp3") {
			t.Errorf("%s: %s %v", other, list, err)
		}
	}
	cut, _, _ := strings.Cut(offer, `"E":{"E.J"`)
	for _, bad := range []string{
		`{"products":[1]}`, `{"publicationDate":"2026-11-01","products":{},"terms":{"OnDemand":{}}}`, cut,
		strings.Replace(offer, `"0.3408000000"`, `"much"`, 1), strings.Replace(offer, `"A":{"A.J":{`, `"A":{"A.J":[],"B.J":{`, 1),
	} {
		if list, err := made(bad); err == nil || list != "" {
			t.Errorf("%.60s: %s", bad, list)
		}
	}
}

func TestBadPrices(t *testing.T) {
	const head = "product,unit,above,usd,region,as_of,source\n"
	for text, want := range map[string]string{
		"":                                  "EOF",
		"a,b\n":                             "the column product is missing",
		head:                                "no price",
		head + "m5.large,hour,,cheap,r,d,s": `price "cheap": want dollars`,
		head + "m5.large,year,,1,r,d,s":     `unit "year"`,
		head + "m5.large,hour,,1,r,d,s\nm5.large,hour,,1,r,d,s":     "line 3: m5.large has two prices",
		head + "m5.large,hour,,1,r,d,s\nm6.large,hour,,1,q,d,s":     `region "q" after "r"`,
		head + "io2,IOPS-month,9,1,r,d,s\nio2,IOPS-month,9,1,r,d,s": "do not rise",
		"instance_type,usd_per_hour\nm5.large,\n":                   `price ""`,
		offer: "scripts/prices.py makes of AWS's JSON",
	} {
		if _, err := ReadPrices(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestMergePrices(t *testing.T) {
	read := func(text string) *Prices {
		p, err := ReadPrices(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const head = "product,unit,above,usd,region,as_of,source\n"
	p := read(head + "m5.large,hour,,1,r,2026-01,s\ngp3,GiB-month,,1,r,2026-01,s")
	if err := p.Merge(read("instance_type,usd_per_hour,source,as_of\nm5.large,2,mine,2026-10-01\n")); err != nil {
		t.Fatal(err)
	}
	if p.Instances["m5.large"] != 2e6 || p.Volumes["gp3"].GiB != 1e6 || p.InstanceSource.AsOf != "2026-10-01" ||
		p.Region != "r" {
		t.Errorf("%+v", p)
	}
	if err := p.Merge(read(head + "m5.large,hour,,1,q,2026-01,s")); err == nil {
		t.Error("instances of one region beside volumes of another")
	}
}

func FuzzReadPrices(f *testing.F) {
	f.Add("product,unit,above,usd,region,as_of,source,trust\ngp3,IOPS-month,3000,0.005,r,2026,s,partial\n")
	f.Add("instance_type,usd_per_hour\nm5.large,1\n")
	bounded.Fuzz(f, func(t *testing.T, text string) {
		p, err := ReadPrices(strings.NewReader(text))
		if err != nil {
			return
		}
		for typ, u := range p.Instances {
			if u < 0 || typ == "" {
				t.Errorf("%q costs %d", typ, u)
			}
		}
	})
}

// Money at its roundings: cents and millionths are rounded half up, once; what is no price is refused.
func TestMoneyByHand(t *testing.T) {
	for u, want := range map[USD]string{
		14_999: "$0.01", 15_000: "$0.02", 994_999: "$0.99", 995_000: "$1.00", 999_999_995_000: "$1,000,000.00", -4_999: "-$0.00", -5_000: "-$0.01", 90_000: "$0.09",
	} {
		if u.String() != want {
			t.Errorf("%d prints as %s, want %s", u, u, want)
		}
	}
	for u, want := range map[USD]string{0: "0", 1: "0.000001", 1_000_000: "1", 10_000_000: "10", 1_200_000: "1.2", 100_000: "0.1"} {
		if u.Exact() != want {
			t.Errorf("%d is %s, want %s", u, u.Exact(), want)
		}
	}
	for text, want := range map[string]USD{
		"0": 0, "1": 1_000_000, "0.0000005": 1, "0.0000004": 0, "1.2345675": 1_234_568, "1e9": 1e15, "1000000000.1": -1, "-0.1": -1, "1,000": -1, "0x10": -1,
	} {
		got, err := ParseUSD(text)
		if (err == nil) != (want >= 0) || err == nil && got != want {
			t.Errorf("%s: %d %v, want %d", text, got, err, want)
		}
	}
	for _, c := range []struct {
		each USD
		n    float64
		want USD
	}{{3, 2, 6}, {3, 0.5, 2}, {3, 0.49, 1}, {1_000_000, 1. / 3, 333_333}, {5, 0, 0}} {
		if got := c.each.Times(c.n); got != c.want {
			t.Errorf("%d times %v: %d, want %d", c.each, c.n, got, c.want)
		}
	}
	// A year after a day, the first of a month, or the first of a year, to the moment.
	for _, c := range []struct {
		asOf string
		now  time.Time
		want bool
	}{
		{"2025-11-21", time.Date(2026, 11, 21, 0, 0, 0, 1, time.UTC), true},
		{"2025-11", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), false},
		{"2025-11", time.Date(2026, 11, 1, 0, 0, 0, 1, time.UTC), true},
		{"2025", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), false},
		{"2025", time.Date(2026, 1, 1, 0, 0, 0, 1, time.UTC), true},
		{"", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), true},
	} {
		if got := (Provenance{AsOf: c.asOf}).Stale(c.now); got != c.want {
			t.Errorf("%s at %v: stale %v", c.asOf, c.now, got)
		}
	}
}

// A volume of a tier has one price, which is written and read again; a list that breaks off says where.
func TestPricesOfTiers(t *testing.T) {
	const head = "product,unit,above,usd,region,as_of,source\n"
	p, err := ReadPrices(strings.NewReader(head + "P30,volume-month,,122.88,r,2026-01,s\nP40,volume-month,,0.5,r,2026-01,s\ngp3,GiB-month,,0.08,r,2026-01,s\nio2,IOPS-month,,0.065,r,2026-01,s\n"))
	if err == nil && (len(p.Volumes["io2"].IOPS) != 1 || p.Volumes["io2"].IOPS[0] != (Tier{0, 65_000})) {
		t.Errorf("of what is above nothing: %+v", p.Volumes["io2"])
	}
	if err != nil || p.Volumes["P30"].Each != 122_880_000 || p.Volumes["P40"].Each != 500_000 || p.Volumes["gp3"].Each != 0 {
		t.Fatalf("%+v %v", p, err)
	}
	for size, want := range map[units.Bytes]USD{units.TiB: 122_880_000, units.TiB + 1: 500_000, units.GiB: 0} { // P30 has 1,024 GiB, P40 twice that
		if got, ok := p.Volume(VolumeSpec{Type: "azure-premium", Size: size}); got != want || ok != (want > 0) {
			t.Errorf("%v: %v %v", size, got, ok)
		}
	}
	for rows, want := range map[string]string{
		head + "P30,volume-month,,1,r,d,s\nP30,volume-month,,2,r,d,s\n": "price list line 3: P30 has two prices",
		head + "P30,volume-month,,free,r,d,s\n":                         "price list line 2: price \"free\"",
		head + "P30,volume-month\n":                                     "price list: ",
		"":                                                              "price list: EOF",
	} {
		if p, err := ReadPrices(strings.NewReader(rows)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %+v %v, want %q", rows, p, err, want)
		}
	}
	if typ, size, ok := TierNamed("p30"); typ != "azure-premium" || size != units.TiB || !ok {
		t.Error(typ, size, ok)
	}
	if typ, size, ok := TierNamed("P31"); typ != "" || size != 0 || ok {
		t.Error(typ, size, ok)
	}
}

// A volume of which a part has no price has none, and what is missing is named as a list has it. Azure bills
// throughput by the MB/s.
func TestPricesOfDisks(t *testing.T) {
	for _, c := range []struct {
		p     string
		spec  VolumeSpec
		want  string
		lacks string
	}{
		{"azure", VolumeSpec{Type: "azure-premium", Size: 300 * units.GiB}, "$73.22", ""}, // P20
		{"azure", VolumeSpec{Type: "azure-premium-v2", Size: 100 * units.GiB, IOPS: 3000, Rate: 125 * units.MBPerSec}, "$8.10", ""},
		{"azure", VolumeSpec{Type: "azure-premium-v2", Size: 100 * units.GiB, IOPS: 4000, Rate: 225 * units.MBPerSec}, "$17.23", ""},
		{"gcp", VolumeSpec{Type: "gcp-pd-balanced", Size: 1834 * units.GiB}, "$183.40", ""},
		{"gcp", VolumeSpec{Type: "gcp-hyperdisk-balanced", Size: 100 * units.GiB, IOPS: 4000, Rate: 240 * units.MiBPerSec}, "$17.00", ""},
		{"gcp", VolumeSpec{Type: "gcp-hyperdisk-throughput", Size: 4096 * units.GiB, Rate: 300 * units.MiBPerSec}, "$0.00", "gcp-hyperdisk-throughput in MiB/s-month"},
		{"gcp", VolumeSpec{Type: "gcp-hyperdisk-balanced-high-availability", Size: 100 * units.GiB}, "$0.00", "gcp-hyperdisk-balanced-high-availability in GiB-month"},
	} {
		got, ok := Named(c.p).Prices().Volume(c.spec)
		if lacks := Named(c.p).Prices().Lacks(c.spec); got.String() != c.want || lacks != c.lacks || ok != (lacks == "") {
			t.Errorf("%+v: %v, lacks %q; want %s, %q", c.spec, got, lacks, c.want, c.lacks)
		}
	}
	for _, file := range []string{"azure/prices.csv", "gcp/prices.csv"} {
		for _, r := range table(file) {
			if r.text("source") == "" || r.text("as_of") < "2023" || r.num("usd") <= 0 {
				t.Errorf("%s: %q", file, r.cells)
			}
		}
	}
	if _, err := ReadPrices(strings.NewReader("product,unit,above,usd,region,as_of,source\nx,MB/s-month,,1,r,d,s\nx,MiB/s-month,5,1,r,d,s\n")); err == nil {
		t.Error("prices by the MB/s and by the MiB/s of one product are taken")
	}
}
