// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func referringBox(t *testing.T, spec string) *modelv1.ModelBox {
	box := &modelv1.ModelBox{}
	if err := yaml.UnmarshalStrict([]byte("metadata: {name: web, namespace: default, uid: u}\nspec: {image: nginx:1, restartOn: References, "+spec+"}"), box); err != nil {
		t.Fatal(err)
	}
	modelv1.SetObjectDefaults_ModelBox(box)
	return box
}

func TestReferences(t *testing.T) {
	for _, row := range []struct {
		name, spec string
		want       []Reference
	}{
		{"none", "envs: [{name: A, value: b}]", nil},
		{"a variable", "envs: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}]", []Reference{{ConfigMapKind, "settings", sets.New("a")}}},
		{"all variables of a Secret", "envFrom: [{secretRef: {name: db}}]", []Reference{{SecretKind, "db", nil}}},
		{"a key of an object whose keys are all used", "envFrom: [{configMapRef: {name: settings}}], envs: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}]",
			[]Reference{{ConfigMapKind, "settings", nil}}},
		{"keys of containers, of init containers and of volumes", `envs: [{name: A, valueFrom: {secretKeyRef: {name: db, key: a}}}],
  containers: [{name: side, image: side:1, env: [{name: B, valueFrom: {secretKeyRef: {name: db, key: b}}}]}],
  initContainers: [{name: init, image: init:1, env: [{name: C, valueFrom: {secretKeyRef: {name: db, key: c}}}]}],
  volumes: [{name: v, secret: {secretName: db, items: [{key: d, path: d}]}}]`, []Reference{{SecretKind, "db", sets.New("a", "b", "c", "d")}}},
		{"volumes", `volumes: [{name: b, configMap: {name: b}}, {name: a, secret: {secretName: a}},
  {name: p, projected: {sources: [{configMap: {name: c}}, {secret: {name: c, items: [{key: k, path: k}]}}]}}]`,
			[]Reference{{ConfigMapKind, "b", nil}, {ConfigMapKind, "c", nil}, {SecretKind, "a", nil}, {SecretKind, "c", sets.New("k")}}},
		{"an overlay", "podTemplate: {spec: {volumes: [{name: v, configMap: {name: overlaid}}]}}", []Reference{{ConfigMapKind, "overlaid", nil}}},
		{"its own configs are none", "configs: [{name: settings, mountPath: /etc/web, data: {a: b}}]", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := References(referringBox(t, row.spec))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("references, -want +got:\n%s", diff)
			}
		})
	}
}

func TestPodsAwaitTheHashesOfTheirReferences(t *testing.T) {
	const variable = "envs: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}]"
	references, err := References(referringBox(t, variable))
	if err != nil {
		t.Fatal(err)
	}
	recorded := `podTemplate: {metadata: {annotations: {model.github.com/references: '{"of":"` + ReferencesID(references) + `","objects":{"ConfigMap/settings":{"a":"0011aabb"}}}'}}}, `
	for _, row := range []struct {
		name, spec string
		change     func(*modelv1.ModelBoxSpec)
		want       bool
	}{
		{"a new box", variable, nil, true},
		{"a new box without references", "replicas: 1", nil, true},
		{"a box that does not restart", variable, func(spec *modelv1.ModelBoxSpec) { spec.RestartOn = nil }, false},
		{"a paused box", variable, func(spec *modelv1.ModelBoxSpec) { spec.Paused = true }, false},
		{"recorded hashes", recorded + variable, nil, false},
		{"a further reference", recorded + variable, func(spec *modelv1.ModelBoxSpec) {
			spec.Envs = append(spec.Envs, referringBox(t, "envs: [{name: B, valueFrom: {configMapKeyRef: {name: settings, key: b}}}]").Spec.Envs...)
		}, true},
		{"another change", recorded + variable, func(spec *modelv1.ModelBoxSpec) { spec.Image, spec.Replicas = "nginx:2", ptr.To[int32](3) }, false},
		{"hashes that a user has written", "podTemplate: {metadata: {annotations: {model.github.com/references: 'none'}}}, " + variable, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := referringBox(t, row.spec)
			if row.change != nil {
				row.change(&box.Spec)
			}
			if got, err := AwaitsReferences(box); err != nil || got != row.want {
				t.Errorf("got %t and error %v, want %t", got, err, row.want)
			}
		})
	}
}

func TestDescribeReferenceChanges(t *testing.T) {
	for _, row := range []struct {
		name          string
		before, after map[string]map[string]string
		want          string
	}{
		{"a value", map[string]map[string]string{"Secret/db": {"a": "1", "b": "1"}}, map[string]map[string]string{"Secret/db": {"a": "1", "b": "2"}}, "Secret db (b)"},
		{"a new and a removed key", map[string]map[string]string{"Secret/db": {"a": "1"}}, map[string]map[string]string{"Secret/db": {"b": "1"}}, "Secret db (a, b)"},
		{"a deleted object", map[string]map[string]string{"Secret/db": {"a": "1"}}, map[string]map[string]string{"Secret/db": nil}, "Secret db (deleted)"},
		{"a created object", map[string]map[string]string{"ConfigMap/web": nil}, map[string]map[string]string{"ConfigMap/web": {"a": "1"}}, "ConfigMap web (created)"},
		{"several objects", map[string]map[string]string{"ConfigMap/web": {"a": "1"}, "Secret/db": {"a": "1"}, "Secret/tls": {"a": "1"}},
			map[string]map[string]string{"ConfigMap/web": {"a": "2"}, "Secret/db": {"a": "1"}, "Secret/tls": nil}, "ConfigMap web (a), Secret tls (deleted)"},
		{"none", map[string]map[string]string{"ConfigMap/web": nil}, map[string]map[string]string{"ConfigMap/web": nil}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, DescribeReferenceChanges(ReferenceHashes{Objects: row.before}, ReferenceHashes{Objects: row.after})); diff != "" {
				t.Errorf("changes, -want +got:\n%s", diff)
			}
		})
	}
}
