// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package childfields

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

var (
	pathOf = fieldpath.MakePathOrDie
	keyed  = fieldpath.KeyByFields
)

func TestPathsCoverTheirFieldsAndWhatIsBelow(t *testing.T) {
	for _, row := range []struct {
		kind, text string
		covered    []fieldpath.Path
		others     []fieldpath.Path
	}{
		{"Deployment", "spec.replicas",
			[]fieldpath.Path{pathOf("spec", "replicas")},
			[]fieldpath.Path{pathOf("spec"), pathOf("spec", "minReadySeconds")}},
		{"Deployment", "spec.template.spec.containers[*].resources",
			[]fieldpath.Path{
				pathOf("spec", "template", "spec", "containers", keyed("name", "app"), "resources"),
				pathOf("spec", "template", "spec", "containers", keyed("name", "log"), "resources", "limits", "cpu"),
			},
			[]fieldpath.Path{
				pathOf("spec", "template", "spec", "containers", keyed("name", "app")),
				pathOf("spec", "template", "spec", "containers", keyed("name", "app"), "image"),
				pathOf("spec", "template", "spec", "initContainers", keyed("name", "app"), "resources"),
			}},
		{"DaemonSet", "spec.template.spec.containers[name=app].image",
			[]fieldpath.Path{pathOf("spec", "template", "spec", "containers", keyed("name", "app"), "image")},
			[]fieldpath.Path{pathOf("spec", "template", "spec", "containers", keyed("name", "log"), "image")}},
		{"StatefulSet", `spec.template.spec.containers[name="app"].ports[containerPort=80, protocol=TCP].name`,
			[]fieldpath.Path{pathOf("spec", "template", "spec", "containers", keyed("name", "app"), "ports", keyed("containerPort", 80, "protocol", "TCP"), "name")},
			[]fieldpath.Path{pathOf("spec", "template", "spec", "containers", keyed("name", "app"), "ports", keyed("containerPort", 80, "protocol", "UDP"), "name")}},
		{"Deployment", "spec.template.metadata.annotations.example.com/team",
			[]fieldpath.Path{pathOf("spec", "template", "metadata", "annotations", "example.com/team")},
			[]fieldpath.Path{pathOf("spec", "template", "metadata", "annotations", "example")}},
		{"Service", `metadata.labels["example.com/team"]`,
			[]fieldpath.Path{pathOf("metadata", "labels", "example.com/team")}, nil},
		{"Deployment", "spec.template.spec.containers[*].resources.limits[nvidia.com/gpu]",
			[]fieldpath.Path{pathOf("spec", "template", "spec", "containers", keyed("name", "app"), "resources", "limits", "nvidia.com/gpu")},
			[]fieldpath.Path{pathOf("spec", "template", "spec", "containers", keyed("name", "app"), "resources", "limits", "cpu")}},
		{"HTTPRoute", "spec.hostnames", []fieldpath.Path{pathOf("spec", "hostnames")}, nil},
		{"GRPCRoute", "spec.hostnames", []fieldpath.Path{pathOf("spec", "hostnames")}, nil},
		{"HorizontalPodAutoscaler", "spec.maxReplicas", []fieldpath.Path{pathOf("spec", "maxReplicas")}, nil},
		{"PodDisruptionBudget", "spec.minAvailable", []fieldpath.Path{pathOf("spec", "minAvailable")}, nil},
		{"Ingress", "spec.tls", []fieldpath.Path{pathOf("spec", "tls")}, nil},
	} {
		t.Run(row.kind+" "+row.text, func(t *testing.T) {
			path, err := Parse(row.kind, row.text)
			if err != nil {
				t.Fatal(err)
			}
			for _, field := range row.covered {
				if !path.Covers(field) {
					t.Errorf("does not cover %s", field)
				}
			}
			for _, field := range row.others {
				if path.Covers(field) {
					t.Errorf("covers %s", field)
				}
			}
		})
	}
}

func TestBadPathsAreToldApart(t *testing.T) {
	for _, row := range []struct{ kind, text, want string }{
		{"Pod", "spec", "boxes have no children of the kind Pod"},
		{"Deployment", "spec.template.spec.container[*]", "there is no field spec.template.spec.container"},
		{"Deployment", "spec..replicas", `a name is missing after "spec."`},
		{"Deployment", ".spec", `a name is missing after ""`},
		{"Deployment", "spec.template.spec.containers.image", "spec.template.spec.containers is a list, whose elements are named [*] or [name=…]"},
		{"Deployment", "spec.template.spec.containers[0].image", "spec.template.spec.containers has no element [0]: elements are named [*] or [name=…]"},
		{"Deployment", "spec.template.spec.containers[*].ports[containerPort=80]", "elements are named [*] or [containerPort=…,protocol=…]"},
		{"Deployment", "spec.template.spec.containers[*].command[0]", "what is below spec.template.spec.containers[*].command cannot be named: it is set as a whole"},
		{"Deployment", "spec.template.spec.containers[name=app", "the bracket after spec.template.spec.containers is not closed"},
		{"Deployment", "spec.template.spec.containers[*]image", "what follows spec.template.spec.containers[*] must begin with a dot"},
		{"Deployment", "spec.replicas.count", "what is below spec.replicas cannot be named: it is set as a whole"},
		{"Service", "spec.selector.modelbox", "what is below spec.selector cannot be named: it is set as a whole"},
	} {
		t.Run(row.kind+" "+row.text, func(t *testing.T) {
			_, err := Parse(row.kind, row.text)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error is %v, want %q", err, row.want)
			}
		})
	}
}
