// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package childkinds

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// manifests are where the manifests of an installation are, and the templates of the chart.
var manifests = []string{"../../../../artifacts/base/", "../../../../artifacts/chart/modelbox-apiserver/templates/"}

// readManifest returns the objects of a kind in a file, which may be a template of the chart.
func readManifest[T any](t *testing.T, file, kind string) []T {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := template.New(file).Parse(string(data))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := rendered.Execute(&text, map[string]any{"Release": map[string]string{"Namespace": "modelbox-system"}}); err != nil {
		t.Fatal(err)
	}
	var objects []T
	for document := range strings.SplitSeq(text.String(), "\n---\n") {
		var typeMeta metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &typeMeta); err != nil {
			t.Fatal(err)
		}
		if typeMeta.Kind != kind {
			continue
		}
		var object T
		if err := utilyaml.UnmarshalStrict([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

func TestRoleOfTheServerGrantsTheVerbsOfEveryKind(t *testing.T) {
	for _, folder := range manifests {
		roles := readManifest[rbacv1.ClusterRole](t, folder+"rbac.yaml", "ClusterRole")
		server := slices.IndexFunc(roles, func(role rbacv1.ClusterRole) bool { return role.Name == "modelbox-apiserver" })
		if server < 0 {
			t.Fatalf("%s has no role of the server", folder)
		}
		for _, kind := range All() {
			for _, verb := range Verbs() {
				if !slices.ContainsFunc(roles[server].Rules, func(rule rbacv1.PolicyRule) bool {
					return slices.Contains(rule.APIGroups, kind.Group) && slices.Contains(rule.Resources, kind.Resource) && slices.Contains(rule.Verbs, verb)
				}) {
					t.Errorf("%srbac.yaml does not let the server %s %s", folder, verb, kind.GroupResource())
				}
			}
		}
	}
}

func TestAdmissionPoliciesRestrictWritesOfEveryKind(t *testing.T) {
	for _, folder := range manifests {
		policies := readManifest[admissionregistrationv1.ValidatingAdmissionPolicy](t, folder+"admission-policy.yaml", "ValidatingAdmissionPolicy")
		for _, kind := range All() {
			for _, operation := range []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete} {
				if !slices.ContainsFunc(policies, func(policy admissionregistrationv1.ValidatingAdmissionPolicy) bool {
					return restricts(&policy, kind, operation)
				}) {
					t.Errorf("no policy of %sadmission-policy.yaml restricts the %s of %s", folder, operation, kind.GroupResource())
				}
			}
		}
	}
}

// restricts returns whether the policy is about an operation on objects of the kind.
func restricts(policy *admissionregistrationv1.ValidatingAdmissionPolicy, kind Kind, operation admissionregistrationv1.OperationType) bool {
	return slices.ContainsFunc(policy.Spec.MatchConstraints.ResourceRules, func(rule admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, kind.Group) && slices.Contains(rule.Resources, kind.Resource) && slices.Contains(rule.Operations, operation)
	})
}

func TestIgnoreDriftHasAFieldForEveryKindThatHasFieldsOfOthers(t *testing.T) {
	var fields, kinds []string
	ignoreDrift := reflect.TypeFor[modelv1.ModelBoxIgnoreDrift]()
	for i := range ignoreDrift.NumField() {
		name, _, _ := strings.Cut(ignoreDrift.Field(i).Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	for _, kind := range All() {
		if kind.IgnoreDrift != "" {
			kinds = append(kinds, kind.IgnoreDrift)
		}
	}
	if !slices.Equal(fields, kinds) {
		t.Errorf("spec.ignoreDrift has the fields %q, the kinds want %q", fields, kinds)
	}
}

func TestKindsAreThoseOfTheirTypes(t *testing.T) {
	for _, kind := range All() {
		if kind.Type.Name() != kind.Kind || kind.New() == nil {
			t.Errorf("objects of the kind %s are of the type %s", kind.Kind, kind.Type)
		}
		if known, isKnown := ByGroupVersionKind(kind.GroupVersionKind); !isKnown || known != kind {
			t.Errorf("%s is found as %v", kind.Kind, known)
		}
	}
}
