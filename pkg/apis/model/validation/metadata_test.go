// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func childLabels(labels map[string]string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Labels = labels }
}

func childAnnotations(annotations map[string]string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Annotations = annotations }
}

func annotationsOfService(annotations map[string]string) func(*model.ModelBox) {
	return service("", func(s *model.ModelBoxService) { s.Annotations = annotations })
}

func TestChildMeta(t *testing.T) {
	type entries = map[string]string
	const (
		rangesKey = "service.beta.kubernetes.io/load-balancer-source-ranges"
		hintsKey  = "service.kubernetes.io/topology-aware-hints"
		modeKey   = "service.kubernetes.io/topology-mode"
	)
	half := strings.Repeat("x", 130<<10)
	balanced := service(model.ServiceTypeLoadBalancer, func(*model.ModelBoxService) {})
	check(t, []row{
		{"labels are accepted", childLabels(entries{"team": "shop", "app.kubernetes.io/component": "web"}), nil},
		{"a label has a value for labels", childLabels(entries{"team": "the shop"}), []string{"Invalid value: spec.labels"}},
		{"a label has a qualified name", childLabels(entries{"the team": "shop"}), []string{"Invalid value: spec.labels"}},
		{"the label that selects the pods is the box's own", childLabels(entries{"modelbox": "web"}), []string{"Forbidden: spec.labels[modelbox]"}},
		{"the label of the candidate is the controller's", childLabels(entries{"model.github.com/candidate": "true"}), []string{"Forbidden: spec.labels[model.github.com/candidate]"}},
		{"the label of who manages the children is the box's own", childLabels(entries{"app.kubernetes.io/managed-by": "Helm"}), []string{"Forbidden: spec.labels[app.kubernetes.io/managed-by]"}},
		{"labels of the Service are accepted", service("", func(s *model.ModelBoxService) { s.Labels = entries{"exposed": "true"} }), nil},
		{"labels of the Service are not the box's own", service("", func(s *model.ModelBoxService) { s.Labels = entries{"app.kubernetes.io/name": "web"} }),
			[]string{"Forbidden: spec.service.labels[app.kubernetes.io/name]"}},
		{"labels of the Service are labels", service("", func(s *model.ModelBoxService) { s.Labels = entries{"team": "the shop"} }), []string{"Invalid value: spec.service.labels"}},

		{"annotations are accepted", childAnnotations(entries{"example.com/contact": "the shop"}), nil},
		{"an annotation has a qualified name", childAnnotations(entries{"the team": ""}), []string{"Invalid value: spec.annotations"}},
		{"an annotation of the controller is its own", childAnnotations(entries{"model.github.com/render-hash": "1"}), []string{"Forbidden: spec.annotations[model.github.com/render-hash]"}},
		{"an annotation of the Deployment controller is its own", childAnnotations(entries{"deployment.kubernetes.io/revision": "1"}), []string{"Forbidden: spec.annotations[deployment.kubernetes.io/revision]"}},
		{"an annotation that holds a field of DaemonSets belongs to them", childAnnotations(entries{"deprecated.daemonset.template.generation": "1"}),
			[]string{"Forbidden: spec.annotations[deprecated.daemonset.template.generation]"}},
		{"an annotation that rolls a Deployment back is its own", childAnnotations(entries{"deprecated.deployment.rollback.to": "1"}),
			[]string{"Forbidden: spec.annotations[deprecated.deployment.rollback.to]"}},
		{"an annotation of kubectl apply is its own", annotationsOfService(entries{"kubectl.kubernetes.io/last-applied-configuration": "{}"}),
			[]string{"Forbidden: spec.service.annotations[kubectl.kubernetes.io/last-applied-configuration]"}},
		{"an annotation of the pods means to them what it always does", childAnnotations(entries{"controller.kubernetes.io/pod-deletion-cost": "much"}),
			[]string{"Invalid value: spec.annotations[controller.kubernetes.io/pod-deletion-cost]"}},
		{"an annotation of a container of the pods is accepted", childAnnotations(entries{"container.apparmor.security.beta.kubernetes.io/web": "runtime/default"}), nil},
		{"an annotation of a container that is not there is refused", childAnnotations(entries{"container.apparmor.security.beta.kubernetes.io/other": "runtime/default"}),
			[]string{"Invalid value: spec.annotations[container.apparmor.security.beta.kubernetes.io/other]"}},
		{"annotations fit on a child", all(childAnnotations(entries{"a": half}), annotationsOfService(entries{"a": half})), nil},
		{"annotations are not more than fits on a child", all(childAnnotations(entries{"a": half}), annotationsOfService(entries{"b": half})), []string{"Too long: spec.service.annotations"}},
		{"annotations leave room for annotations of the cluster", childAnnotations(entries{"a": strings.Repeat("x", 253<<10)}), []string{"Too long: spec.annotations"}},

		{"source ranges by annotation go with LoadBalancer", all(balanced, annotationsOfService(entries{rangesKey: "203.0.113.0/24, 198.51.100.0/24"}), balanced), nil},
		{"source ranges by annotation are networks", all(annotationsOfService(entries{rangesKey: "all"}), balanced), []string{"Invalid value: spec.service.annotations[" + rangesKey + "]"}},
		{"source ranges by annotation do not go with ClusterIP", annotationsOfService(entries{rangesKey: ""}), []string{"Forbidden: spec.service.annotations[" + rangesKey + "]"}},
		{"source ranges by annotation are found where they are", childAnnotations(entries{rangesKey: ""}), []string{"Forbidden: spec.annotations[" + rangesKey + "]"}},
		{"a mode of topology is the older hint", annotationsOfService(entries{hintsKey: "Auto", modeKey: "Auto"}), nil},
		{"a mode of topology is not another than the older hint", all(childAnnotations(entries{hintsKey: "Auto"}), annotationsOfService(entries{modeKey: "Disabled"})),
			[]string{"Invalid value: spec.service.annotations[" + modeKey + "]"}},
	})
}

func TestAnnotations(t *testing.T) {
	const wrong = `metadata.annotations[model.github.com/adopt]: Unsupported value: "yes": supported values: "true", "false"`
	for _, row := range []struct {
		name     string
		old, now map[string]string
		want     string
	}{
		{"none", nil, nil, ""},
		{"of another controller", nil, map[string]string{"example.com/adopt": "yes"}, ""},
		{"adoption", nil, map[string]string{modelv1.AdoptAnnotation: "true"}, ""},
		{"no adoption", nil, map[string]string{modelv1.AdoptAnnotation: "false"}, ""},
		{"what means nothing", nil, map[string]string{modelv1.AdoptAnnotation: "yes"}, wrong},
		{"what meant nothing before", map[string]string{modelv1.AdoptAnnotation: "yes"}, map[string]string{modelv1.AdoptAnnotation: "yes"}, ""},
		{"a value that had no meaning before, fixed", map[string]string{modelv1.AdoptAnnotation: "yes"}, map[string]string{modelv1.AdoptAnnotation: "true"}, ""},
		{"what is changed to mean nothing", map[string]string{modelv1.AdoptAnnotation: "true"}, map[string]string{modelv1.AdoptAnnotation: "yes"}, wrong},
		{"an empty value that is added", map[string]string{}, map[string]string{modelv1.AdoptAnnotation: ""}, strings.Replace(wrong, "yes", "", 1)},
		{"an empty value before", map[string]string{modelv1.AdoptAnnotation: ""}, map[string]string{modelv1.AdoptAnnotation: ""}, ""},
		{"an empty value before, taken away", map[string]string{modelv1.AdoptAnnotation: ""}, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			old, box := validBox(), validBox()
			old.ResourceVersion, box.ResourceVersion = "1", "1"
			old.Annotations, box.Annotations = row.old, row.now
			errs := validateUpdate(t.Context(), box, old)
			if row.old == nil {
				errs = ValidateModelBox(t.Context(), box)
			}
			if got := errs.ToAggregate(); (got == nil) != (row.want == "") || got != nil && got.Error() != row.want {
				t.Errorf("got %v, want %q", got, row.want)
			}
		})
	}
}
