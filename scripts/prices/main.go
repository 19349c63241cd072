// Command prices makes internal/cloud/catalogue/aws/prices.csv of price lists that a person brings:
// AWS's own offer file of AmazonEC2 (JSON), or a CSV (docs/advise.md). What the lists do not hold
// stays as it is. It opens no connection.
package main

import (
	"bytes"
	"fmt"
	"os"

	"plimsoll/internal/cloud"
)

const catalogue = "internal/cloud/catalogue/aws/prices.csv"

func main() {
	if err := refresh(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "prices:", err)
		os.Exit(1)
	}
}

func refresh(files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("usage: scripts/prices.sh FILE... (AWS price list JSON, or CSV)")
	}
	now, err := read(catalogue)
	if err != nil {
		return err
	}
	for _, name := range files {
		more, err := read(name)
		if err != nil {
			return err
		}
		if err := now.Merge(more); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	var out bytes.Buffer
	if err := cloud.WritePrices(&out, now); err != nil {
		return err
	}
	if err := os.WriteFile(catalogue, out.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s: %d instance types (%s), %d volume types (%s), %s\n", catalogue,
		len(now.Instances), now.InstanceSource.AsOf, len(now.Volumes), now.VolumeSource.AsOf, now.Region)
	return nil
}

func read(name string) (*cloud.Prices, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	p, err := cloud.ReadPrices(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}
