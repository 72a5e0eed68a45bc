// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestGetAttrs(t *testing.T) {
	attrs := fields.Set{
		"metadata.name": "web", "metadata.namespace": "default",
		"spec.image": "nginx:1.7.9", "spec.serviceType": "ClusterIP", "spec.workload": "Deployment", "status.ready": "true",
	}
	with := func(field, value string) fields.Set {
		set := fields.Set{}
		for k, v := range attrs {
			set[k] = v
		}
		set[field] = value
		return set
	}
	for _, row := range []struct {
		name   string
		change func(*model.ModelBox)
		want   fields.Set
	}{
		{"a box that is ready", func(*model.ModelBox) {}, attrs},
		{"a box that is not ready", func(box *model.ModelBox) { box.Status.Conditions[0].Status = "False" }, with("status.ready", "false")},
		{"a box that the controller has not seen", func(box *model.ModelBox) { box.Status.Conditions = nil }, with("status.ready", "false")},
		{"a service type that follows the node port", func(box *model.ModelBox) { box.Spec.Ports[0].NodePort = 30010 }, with("spec.serviceType", "NodePort")},
		{"another workload", func(box *model.ModelBox) { box.Spec.Workload = model.WorkloadDaemonSet }, with("spec.workload", "DaemonSet")},
		{"a service type that is given", func(box *model.ModelBox) { box.Spec.ServiceType = "Headless" }, with("spec.serviceType", "Headless")},
	} {
		t.Run(row.name, func(t *testing.T) {
			labelSet, fieldSet, err := GetAttrs(webBox(row.change))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(labels.Set{"team": "shop"}, labelSet); diff != "" {
				t.Errorf("labels, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(row.want, fieldSet); diff != "" {
				t.Errorf("fields, -want +got:\n%s", diff)
			}
		})
	}
}

func TestGetAttrsOfSomethingElse(t *testing.T) {
	if _, _, err := GetAttrs(&model.ModelBoxList{}); err == nil {
		t.Error("a list has the attributes of a box")
	}
}

// A field that v1 accepts as a selector and that boxes do not have would select nothing, silently.
func TestEverySelectableFieldIsAcceptedByV1(t *testing.T) {
	_, fieldSet, err := GetAttrs(webBox())
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range fieldSet {
		if _, _, err := scheme.ConvertFieldLabel(modelv1.SchemeGroupVersion.WithKind("ModelBox"), field, value); err != nil {
			t.Error(err)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, row := range []struct {
		name, labels, fields string
		want                 bool
	}{
		{"everything", "", "", true},
		{"its label", "team=shop", "", true},
		{"another label", "team=mail", "", false},
		{"its image", "", "spec.image=nginx:1.7.9", true},
		{"another image", "", "spec.image!=nginx:1.7.9", false},
		{"its namespace and name", "", "metadata.namespace=default,metadata.name=web", true},
		{"its label and not its readiness", "team=shop", "status.ready=false", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			label, err := labels.Parse(row.labels)
			if err != nil {
				t.Fatal(err)
			}
			field, err := fields.ParseSelector(row.fields)
			if err != nil {
				t.Fatal(err)
			}
			predicate := Match(label, field)
			got, err := predicate.Matches(webBox())
			if err != nil {
				t.Fatal(err)
			}
			if got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

// The watch cache finds by an index what Match would find by looking at every box.
func TestIndexesHoldWhatSelectorsAskFor(t *testing.T) {
	notReady := webBox(func(box *model.ModelBox) { box.Status.Conditions[0].Status = "False" })
	predicate := Match(labels.Everything(), fields.SelectorFromSet(fields.Set{"spec.image": "nginx:1.7.9", "status.ready": "false"}))
	indexers := *Indexers()
	values := predicate.MatcherIndex(t.Context())
	if len(values) != len(indexers) {
		t.Fatalf("the selector asks %d indexes of %d", len(values), len(indexers))
	}
	for _, value := range values {
		got, err := indexers[value.IndexName](notReady)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{value.Value}, got); diff != "" {
			t.Errorf("%s, -want +got:\n%s", value.IndexName, diff)
		}
		if _, err := indexers[value.IndexName](&model.ModelBoxList{}); err == nil {
			t.Errorf("%s indexes a list as a box", value.IndexName)
		}
	}
}
