package cloud

import (
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Balance is how full a bucket of burst credits was at a moment.
type Balance struct {
	Left float64   // of the whole bucket, 0..1: the least of the period
	At   time.Time // when that period of a minute (volumes) or five (instances) began
}

// Balances are those of a machine. What CloudWatch has no value for is nil, or not in the map.
type Balances struct {
	InstanceIO, InstanceRate *Balance
	Volumes                  map[string]Balance // by volume id
}

// balanceWindow is how old a balance may be. CloudWatch gets one a minute of a volume and one every
// five minutes of an instance, but none of a volume that is not active; its bucket has filled up
// since its last one.
const balanceWindow = time.Hour

// perCall is how many metrics one GetMetricData may ask for (API reference of MetricDataQuery).
const perCall = 500

// maxPages is far above what comes: 500 metrics of an hour are 30,000 values, and a page holds
// 100,800.
const maxPages = 20

// cloudWatch is asked for the balances of burst buckets.
var cloudWatch = service{
	name:    "CloudWatch",
	id:      "CloudWatch",
	host:    "monitoring",
	version: "2010-08-01",
	action:  "GetMetricData",
	prefix:  "cloudwatch",
}

// metric is one series of values of one thing, in per cent.
type metric struct {
	space, name, dimension, value string
	period                        time.Duration
}

// BurstBalances asks CloudWatch how much burst an instance and its volumes had left when it last
// heard of them, within the last hour; instance may be empty. Credentials, region and endpoint are
// found as for DescribeVolumes; it takes APIBudget at most. Of a volume or instance that does not
// burst there is no balance, so ask for those only that do.
//
// Volumes: AWS/EBS BurstBalance, of gp2, st1 and sc1
// (https://docs.aws.amazon.com/ebs/latest/userguide/using_cloudwatch_ebs.html). Instances: AWS/EC2
// EBSIOBalance% and EBSByteBalance%, of Nitro types that sustain less than their maximum, some of
// 4xlarge and smaller; their statistics are Minimum and Maximum
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html). Read
// 2026-11-21.
func BurstBalances(ctx context.Context, region, instance string, volumes []string) (b Balances, err error) {
	var asked []metric
	if instance != "" {
		for _, name := range []string{"EBSIOBalance%", "EBSByteBalance%"} {
			asked = append(asked, metric{"AWS/EC2", name, "InstanceId", instance, 5 * time.Minute})
		}
	}
	for _, id := range volumes {
		asked = append(asked, metric{"AWS/EBS", "BurstBalance", "VolumeId", id, time.Minute})
	}
	if len(asked) == 0 {
		return b, nil
	}
	ctx, cancel := context.WithTimeout(ctx, APIBudget)
	defer cancel()
	api, err := cloudWatch.open(ctx, region)
	if err != nil {
		return b, err
	}
	var found []*Balance // the last value of each metric, nil where there is none
	for some := range slices.Chunk(asked, perCall) {
		latest, err := api.latest(ctx, some, time.Now())
		if err != nil {
			return b, err
		}
		found = append(found, latest...)
	}
	b.Volumes = map[string]Balance{}
	for i, v := range found {
		switch {
		case v == nil:
		case asked[i].name == "EBSIOBalance%":
			b.InstanceIO = v
		case asked[i].name == "EBSByteBalance%":
			b.InstanceRate = v
		default:
			b.Volumes[asked[i].value] = *v
		}
	}
	return b, nil
}

func (c client) latest(ctx context.Context, asked []metric, now time.Time) ([]*Balance, error) {
	from := now.Add(-balanceWindow)
	form := url.Values{
		"StartTime": {
			from.UTC().Format(time.RFC3339),
		},
		"EndTime": {now.UTC().Format(time.RFC3339)},
		"ScanBy":  {"TimestampDescending"},
	}
	for i, m := range asked {
		query := fmt.Sprintf("MetricDataQueries.member.%d.", i+1)
		for key, value := range map[string]string{
			"Id":                           "m" + strconv.Itoa(i),
			"MetricStat.Metric.Namespace":  m.space,
			"MetricStat.Metric.MetricName": m.name,
			"MetricStat.Metric.Dimensions.member.1.Name":  m.dimension,
			"MetricStat.Metric.Dimensions.member.1.Value": m.value,
			"MetricStat.Period":                           strconv.Itoa(int(m.period.Seconds())),
			"MetricStat.Stat":                             "Minimum",
		} {
			form.Set(query+key, value)
		}
	}
	found := make([]*Balance, len(asked))
	for range maxPages {
		var page metricAnswer
		if err := c.ask(ctx, form, &page); err != nil {
			return nil, err
		}
		page.into(found, from, now)
		if page.Next == "" {
			return found, nil
		}
		form.Set("NextToken", page.Next)
	}
	return nil, fmt.Errorf("%s: the answer has no end after %d pages", c.name, maxPages)
}

// metricAnswer is GetMetricDataResponse, as the CloudWatch API reference spells it. Value n is of
// timestamp n.
type metricAnswer struct {
	XMLName xml.Name `xml:"GetMetricDataResponse"`
	Results []struct {
		ID         string   `xml:"Id"`
		Timestamps []string `xml:"Timestamps>member"`
		Values     []string `xml:"Values>member"`
	} `xml:"GetMetricDataResult>MetricDataResults>member"`
	Next string `xml:"GetMetricDataResult>NextToken"`
}

// into puts the latest value of each metric m0, m1, … into found. What was not asked for, is no
// percentage or not of the time asked for, is left out; the first period may have begun before
// from.
func (a metricAnswer) into(found []*Balance, from, to time.Time) {
	for _, r := range a.Results {
		number, mine := strings.CutPrefix(r.ID, "m")
		i, err := strconv.Atoi(number)
		if err != nil || !mine || i < 0 || i >= len(found) {
			continue
		}
		for n := range min(len(r.Timestamps), len(r.Values)) {
			at, err1 := time.Parse(time.RFC3339, r.Timestamps[n])
			percent, err2 := strconv.ParseFloat(r.Values[n], 64)
			if err1 != nil || err2 != nil || math.IsNaN(percent) || percent < 0 || percent > 100 ||
				at.Before(from.Add(-5*time.Minute)) ||
				at.After(to) {
				continue
			}
			if found[i] == nil || at.After(found[i].At) {
				found[i] = &Balance{percent / 100, at}
			}
		}
	}
}
