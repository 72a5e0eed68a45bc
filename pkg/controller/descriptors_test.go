// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnabledDescriptors(t *testing.T) {
	descriptors := map[string]*Descriptor{
		"modelbox": {name: "modelbox"},
		"network":  {name: "network"},
		"debugger": {name: "debugger", isDisabledByDefault: true},
	}
	for _, row := range []struct {
		name        string
		controllers []string
		want        []string
	}{
		{"* enables those that are on by default", []string{"*"}, []string{"modelbox", "network"}},
		{"a name enables one that is off by default", []string{"*", "debugger"}, []string{"debugger", "modelbox", "network"}},
		{"a name alone enables nothing else", []string{"network"}, []string{"network"}},
		{"-name disables one", []string{"*", "-network"}, []string{"modelbox"}},
		{"-name disables one in whatever order", []string{"-network", "*"}, []string{"modelbox"}},
		{"the first entry about a controller counts", []string{"-network", "network", "modelbox", "-modelbox"}, []string{"modelbox"}},
		{"-name enables nothing", []string{"-network"}, nil},
		{"an empty list enables nothing", nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, descriptor := range EnabledDescriptors(descriptors, row.controllers) {
				got = append(got, descriptor.Name())
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("--controllers=%s, -want +got:\n%s", strings.Join(row.controllers, ","), diff)
			}
		})
	}
}

func TestDisabledByDefault(t *testing.T) {
	got := disabledByDefault(map[string]*Descriptor{
		"network":  {name: "network"},
		"ingress":  {name: "ingress", isDisabledByDefault: true},
		"debugger": {name: "debugger", isDisabledByDefault: true},
	})
	if diff := cmp.Diff([]string{"debugger", "ingress"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Names are flags, paths of health checks and prefixes of log lines.
func TestEveryDescriptorBuildsTheControllerOfItsName(t *testing.T) {
	c, _, _ := newTestContext()
	for name, descriptor := range NewDescriptors() {
		controllers, err := BuildControllers(c, []*Descriptor{descriptor})
		if err != nil {
			t.Fatal(err)
		}
		if got := controllers[0].Name(); got != name || descriptor.Name() != name {
			t.Errorf("the controller of %s is called %s, its descriptor %s", name, got, descriptor.Name())
		}
	}
	if diff := cmp.Diff([]string{"modelbox", "modelstack", "network", "poddebugger", "references", "serviceingress"}, KnownControllers()); diff != "" {
		t.Errorf("known controllers, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"serviceingress"}, ControllersDisabledByDefault()); diff != "" {
		t.Errorf("controllers that are off by default, -want +got:\n%s", diff)
	}
}

func TestBuildControllersNamesTheOneThatFails(t *testing.T) {
	c, _, _ := newTestContext()
	_, err := BuildControllers(c, []*Descriptor{{name: "broken", constructor: func(*Context) (Controller, error) {
		return nil, errors.New("no index")
	}}})
	if err == nil || err.Error() != "creating controller broken: no index" {
		t.Errorf("got error %v", err)
	}
}
