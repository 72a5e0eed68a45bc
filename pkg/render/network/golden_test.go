// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/rendertest"
)

// The golden files pin what a network becomes. After a wanted change:
//
//	go test ./pkg/render/network -update
//
// A changed golden file of an unchanged network is a breaking change: pods that start after an upgrade are attached
// otherwise than those before.
const inputSuffix = ".network.yaml"

// readNetwork returns the network of a file, defaulted.
func readNetwork(t testing.TB, file string) *modelv1.Network {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	network := &modelv1.Network{}
	if err := utilyaml.UnmarshalStrict(data, network); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	modelv1.SetObjectDefaults_Network(network)
	return network
}

func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*" + inputSuffix)
	if err != nil || len(inputs) == 0 {
		t.Fatalf("got %d networks in testdata, %v", len(inputs), err)
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(input, inputSuffix)
		t.Run(filepath.Base(name), func(t *testing.T) {
			children, err := Children(readNetwork(t, input))
			if err != nil {
				t.Fatal(err)
			}
			rendertest.ExpectGolden(t, name+rendertest.GoldenSuffix, input, rendertest.Documents(t, children...))
		})
	}
}

// Two networks with the same bridge would be one.
func TestBridgeNamesFitIntoAnInterfaceAndDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, namespace := range []string{"default", "shop", "a", "a-b"} {
		for _, name := range []string{"lan", "b", "b-c", strings.Repeat("x", 63)} {
			network := &modelv1.Network{}
			network.Namespace, network.Name = namespace, name
			bridge := bridgeName(network)
			if longest := bridge + ".4094"; len(longest) > 15 {
				t.Errorf("%s of %s/%s is too long", longest, namespace, name)
			}
			if other, found := seen[bridge]; found {
				t.Errorf("%s/%s and %s have the bridge %s", namespace, name, other, bridge)
			}
			seen[bridge] = namespace + "/" + name
		}
	}
}
