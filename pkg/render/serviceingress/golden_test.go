// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/rendertest"
)

// The golden files pin what an annotated Service becomes. After a wanted change:
//
//	go test ./pkg/render/serviceingress -update
//
// A changed golden file of an unchanged Service is a breaking change: an upgrade to it writes every such Ingress.
const inputSuffix = ".service.yaml"

// someDefaults are the defaults for the Services whose files have this name.
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
			golden := filepath.Join("testdata", name+rendertest.GoldenSuffix)
			rendertest.ExpectGolden(t, golden, input, rendertest.Documents(t, ingress))
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
