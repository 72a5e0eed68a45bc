// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

var update = flag.Bool("update", false, "write the golden files")

func TestFormat(t *testing.T) {
	for _, row := range []struct {
		value float64
		unit  result.Unit
		want  string
	}{
		{0, result.Seconds, "0 s"},
		{12.345, result.Seconds, "12.3 s"},
		{0.012345, result.Seconds, "12.3 ms"},
		{0.000512, result.Seconds, "512 µs"},
		{1234.5, result.PerSecond, "1234/s"},
		{0.4321, result.PerSecond, "0.432/s"},
		{512, result.Bytes, "512 B"},
		{30 << 10, result.Bytes, "30.0 KiB"},
		{-3 << 20, result.Bytes, "-3.00 MiB"},
		{4, result.Count, "4.00"},
	} {
		if got := Format(row.value, row.unit); got != row.want {
			t.Errorf("%v %q: got %q, want %q", row.value, row.unit, got, row.want)
		}
	}
}

// sample has every kind of thing that a report shows.
func sample(t *testing.T) *result.Result {
	t.Helper()
	latency := func(microseconds ...int64) string {
		histogram := result.NewLatency()
		for _, value := range microseconds {
			if err := histogram.RecordValue(value); err != nil {
				t.Fatal(err)
			}
		}
		encoded, err := result.EncodeLatency(histogram)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	measurement := func(of, contestant string, round int, rate, cpu float64, encoded string) result.Measurement {
		return result.Measurement{
			Case: of, Contestant: contestant, Round: round, Latency: encoded,
			Values: map[string]float64{"requests/s": rate, "CPU a request": cpu},
		}
	}
	comparison := result.Comparison{Ours: "ModelBox", Peer: "CRD"}
	return &result.Result{
		Format:   result.Format,
		Began:    time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC),
		Machine:  result.Machine{CPU: "Example CPU", Cores: 2, Memory: 8 << 30, Kernel: "6.12.0", BusyBefore: 0.01},
		Versions: map[string]string{"etcd": "etcd Version: 3.7.3", "kube-apiserver": "Kubernetes v1.36.3"},
		Settings: result.Settings{Rounds: 2},
		Scenarios: []result.Scenario{{
			Name: "api", Shows: "get boxes one by one", Size: 10, Seconds: 3.2,
			Notes:       []string{"Controllers are off."},
			Figures:     []result.Figure{{Name: "requests/s", Unit: result.PerSecond}, {Name: "CPU a request", Unit: result.Seconds}},
			Comparisons: []result.Comparison{comparison},
			Goals: []result.Goal{
				{Case: "get", Figure: "requests/s", Ours: "ModelBox", Peer: "CRD", AtLeast: ptr.To(1.2)},
				{Figure: "CPU a request", Ours: "ModelBox", Peer: "CRD", AtMost: ptr.To(0.4)},
				{Figure: "CPU a request", Ours: "ModelBox", AtMost: ptr.To(0.001)},
			},
			Measurements: []result.Measurement{
				measurement("get, 16 clients", "ModelBox", 0, 1500, 0.0006, latency(500, 700, 2100)),
				measurement("get, 16 clients", "CRD", 0, 1000, 0.0012, latency(900, 1100, 4000)),
				measurement("get, 16 clients", "CRD", 1, 1100, 0.0011, latency(800, 1000, 3900)),
				measurement("get, 16 clients", "ModelBox", 1, 1430, 0.0007, latency(600, 650, 2300)),
			},
		}},
	}
}

func TestPage(t *testing.T) {
	var page bytes.Buffer
	plots := map[string][]plotFile{"api": {{"Latency of get, 16 clients", "api-get-16-clients.svg"}}}
	if err := writePage(&page, sample(t), plots); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "page.golden", page.Bytes())
}

func TestPageSaysHowToMeasureTheSame(t *testing.T) {
	for _, row := range []struct {
		settings result.Settings
		want     string
	}{
		{result.Settings{}, "Measured with `make bench` on"},
		{result.Settings{Quick: true}, "Measured with `make bench-quick` on"},
		{result.Settings{Full: true}, "Measured with `bench run --full` on"},
	} {
		measured := sample(t)
		measured.Settings = row.settings
		measured.Scenarios[0].SizeOf = "watchers"
		var page bytes.Buffer
		if err := writePage(&page, measured, nil); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{row.want, "With 10 watchers, in 3 s."} {
			if !bytes.Contains(page.Bytes(), []byte(text)) {
				t.Errorf("%+v: the page has no %q", row.settings, text)
			}
		}
	}
}

func TestTerminal(t *testing.T) {
	var text bytes.Buffer
	if err := Terminal(&text, &sample(t).Scenarios[0]); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "terminal.golden", text.Bytes())
}

func TestPlotsAreThoseOfThePage(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, sample(t)); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	const plot = "api-get-16-clients.svg"
	if !bytes.Contains(page, []byte("("+plot+")")) {
		t.Errorf("the page does not show %s", plot)
	}
	drawn, err := os.ReadFile(filepath.Join(dir, plot))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"<svg", ">ModelBox<", ">CRD<", ">99 %<"} {
		if !bytes.Contains(drawn, []byte(text)) {
			t.Errorf("the plot has no %q", text)
		}
	}
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -want +got, run with -update after an intended change:\n%s", path, diff)
	}
}
