// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

var updateMetrics = flag.Bool("update-metrics", false, "write the table of docs/metrics.md")

var (
	ownMetric = regexp.MustCompile(`^(modelbox|modelstack|network|poddebugger|references|serviceingress)_`)
	// notServed matches metrics that the server of a local control plane may not have: it issues no certificate, the controller
	// serviceingress is disabled by default, and counters of writes depend on former tests.
	notServed = regexp.MustCompile(`^modelbox_serving_certificate_(ca_bundle_writes|rotations)_|^serviceingress_controller_|^(modelstack|network|poddebugger|references)_controller_(child_writes|drift_restored)_total$`)
	// stability matches the prefix of the help of metrics of Kubernetes.
	stability = regexp.MustCompile(`^\[(ALPHA|BETA|STABLE)\] `)
	tableRow  = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|.*\\|\n")
	metric    = regexp.MustCompile("`([a-z_]+)`")
)

// TestMetricsAreDocumented does not run in parallel, because other tests count restored children.
func TestMetricsAreDocumented(t *testing.T) {
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	n.PatchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:hacked"}]`)
	n.Events.Await("web", "RestoredDeployment", framework.OtherManager, "image")

	served := scrapeFamilies(t, n)
	file := framework.InRepository("docs", "metrics.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	own, libraries, found := strings.Cut(string(text), "\n## Metrics of libraries")
	if !found {
		t.Fatalf("%s has no section about libraries", file)
	}

	documented, want := map[string]string{}, map[string]string{}
	for _, row := range tableRow.FindAllStringSubmatch(own, -1) {
		name := strings.Trim(row[1], "`")
		documented[name] = row[0]
		if notServed.MatchString(name) {
			want[name] = row[0]
		}
	}
	for name, family := range served {
		if ownMetric.MatchString(name) {
			want[name] = family.row(t)
		}
	}
	if *updateMetrics {
		writeTable(t, file, own, want, "\n## Metrics of libraries"+libraries)
	} else if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("docs/metrics.md, -want +got; to write it, add the flag -update-metrics:\n%s", diff)
	}
	for _, row := range tableRow.FindAllStringSubmatch(libraries, -1) {
		for _, name := range metric.FindAllStringSubmatch(row[1], -1) {
			if _, ok := served[name[1]]; !ok {
				t.Errorf("docs/metrics.md has %s, which the server does not serve", name[1])
			}
		}
	}
}

// family has all series of a metric.
type family struct {
	name, kind, help string
	labels           sets.Set[string]
}

// row returns the row of a metric in docs/metrics.md.
func (f family) row(t *testing.T) string {
	level := stability.FindStringSubmatch(f.help)
	if level == nil {
		t.Errorf("%s has no stability level: %q", f.name, f.help)
		return ""
	}
	labels := make([]string, 0, len(f.labels))
	for _, label := range sets.List(f.labels) {
		labels = append(labels, "`"+label+"`")
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", f.name, f.kind, strings.Join(labels, ", "), level[1], f.help[len(level[0]):])
}

func scrapeFamilies(t *testing.T, n *framework.Namespace) map[string]family {
	t.Helper()
	text, err := n.ControlPlane.DirectClient(t).Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]family{}
	for name, metrics := range parsed {
		f := family{name, strings.ToLower(metrics.GetType().String()), metrics.GetHelp(), sets.New[string]()}
		for _, series := range metrics.GetMetric() {
			for _, label := range series.GetLabel() {
				f.labels.Insert(label.GetName())
			}
		}
		families[name] = f
	}
	return families
}

func writeTable(t *testing.T, file, own string, rows map[string]string, rest string) {
	t.Helper()
	var table strings.Builder
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		table.WriteString(rows[name])
	}
	if err := os.WriteFile(file, []byte(tableRow.ReplaceAllString(own, "")+table.String()+rest), 0o644); err != nil {
		t.Fatal(err)
	}
}
