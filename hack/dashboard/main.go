// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Dashboard draws the panels of a Grafana dashboard from what a Prometheus has of a server, into a PNG, and names the queries
// that have no data.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

func main() {
	file := flag.String("dashboard", "artifacts/dashboard/modelbox-apiserver.json", "file of the dashboard")
	address := flag.String("prometheus", "http://127.0.0.1:9090", "URL of the Prometheus")
	job := flag.String("job", "modelbox-apiserver", "value of the variable job")
	since := flag.Duration("since", 10*time.Minute, "how long ago the panels begin")
	output := flag.String("output", "dashboard.png", "file of the picture")
	flag.Parse()
	if err := run(context.Background(), *file, *address, *job, *since, *output); err != nil {
		fmt.Fprintln(os.Stderr, "ERROR:", err)
		os.Exit(1)
	}
}

// dashboard is what is drawn of the model of Grafana.
type dashboard struct {
	Panels []panel `json:"panels"`
}

type panel struct {
	Title   string `json:"title"`
	GridPos struct {
		X, Y, W, H float64
	} `json:"gridPos"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []struct {
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	} `json:"targets"`
}

// series is a line of a panel.
type series struct {
	legend string
	values []model.SamplePair
}

func run(ctx context.Context, file, address, job string, since time.Duration, output string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var d dashboard
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	client, err := api.NewClient(api.Config{Address: address})
	if err != nil {
		return err
	}
	now := time.Now()
	interval := prometheusv1.Range{Start: now.Add(-since), End: now, Step: 5 * time.Second}
	var drawn []drawing
	for _, p := range d.Panels {
		lines, err := queryPanel(ctx, prometheusv1.NewAPI(client), &p, job, interval)
		if err != nil {
			return fmt.Errorf("panel %q: %w", p.Title, err)
		}
		drawn = append(drawn, drawing{panel: p, lines: lines})
	}
	return draw(drawn, interval, output)
}

// queryPanel returns the lines of a panel, and reports queries without a line.
func queryPanel(ctx context.Context, client prometheusv1.API, p *panel, job string, interval prometheusv1.Range) ([]series, error) {
	var lines []series
	for _, target := range p.Targets {
		value, _, err := client.QueryRange(ctx, strings.ReplaceAll(target.Expr, "$job", job), interval)
		if err != nil {
			return nil, err
		}
		matrix, isMatrix := value.(model.Matrix)
		if !isMatrix {
			return nil, fmt.Errorf("%s is a %s", target.Expr, value.Type())
		}
		if len(matrix) == 0 {
			fmt.Printf("no data: %s: %s\n", p.Title, target.Expr)
		}
		for _, stream := range matrix {
			lines = append(lines, series{legend: legendOf(target.LegendFormat, stream.Metric), values: stream.Values})
		}
	}
	return lines, nil
}

// legendOf fills in the labels of a series, as {{label}}.
func legendOf(format string, labels model.Metric) string {
	for name, value := range labels {
		format = strings.ReplaceAll(format, "{{"+string(name)+"}}", string(value))
	}
	return format
}
