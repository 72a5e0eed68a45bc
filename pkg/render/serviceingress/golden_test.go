// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// The golden files pin what an annotated Service becomes. After a wanted change:
//
//	go test ./pkg/render/serviceingress -update
//
// A changed golden file of an unchanged Service is a breaking change: an upgrade to it writes every such Ingress.
var update = flag.Bool("update", false, "rewrite the golden files")

const (
	inputSuffix  = ".service.yaml"
	goldenSuffix = ".golden.yaml"
)

// someDefaults are those of the Services whose files are named so.
var someDefaults = map[string]Defaults{
	"defaults":            {Class: "public", HostPattern: "{name}.{namespace}.example.com"},
	"defaults-overridden": {Class: "public", HostPattern: "{name}.{namespace}.example.com"},
}

func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*" + inputSuffix)
	if err != nil || len(inputs) == 0 {
		t.Fatalf("got %d Services in testdata, %v", len(inputs), err)
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(filepath.Base(input), inputSuffix)
		t.Run(name, func(t *testing.T) {
			service, defaults := readService(t, input), someDefaults[name]
			if err := Validate(service, defaults).ToAggregate(); err != nil {
				t.Fatal(err)
			}
			ingress, err := Ingress(service, defaults)
			if err != nil {
				t.Fatal(err)
			}
			got, err := yaml.Marshal(ingress.Object)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+goldenSuffix)
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
				t.Errorf("the render of %s changed (-golden +now):\n%s", input, diff)
			}
		})
	}
}

func readService(t *testing.T, file string) *corev1.Service {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{}
	if err := utilyaml.UnmarshalStrict(data, service); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return service
}
