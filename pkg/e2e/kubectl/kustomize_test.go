// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const kustomizations = "testdata/kustomize"

// TestKustomizeTransformsBoxes builds an overlay with everything that kustomize changes in a Deployment, over a box
// that has each field that it can change, with the component in artifacts.
func TestKustomizeTransformsBoxes(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	overlay := filepath.Join(kustomizations, "overlay")
	want, err := os.ReadFile(filepath.Join(kustomizations, "want.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	built := objectsIn(t, n.Kubectl.Run("kustomize", overlay))
	for name, object := range objectsIn(t, string(want)) {
		framework.ExpectEqual(t, name, object, built[name])
	}
	output := n.Kubectl.Run("apply", "--kustomize="+overlay, "--dry-run=server", "--validate=strict")
	for _, box := range []string{"prod-web", "prod-queue"} {
		if line := "modelbox.model.github.com/" + box + " created (server dry run)"; !strings.Contains(output, line) {
			t.Errorf("%s is missing in:\n%s", line, output)
		}
	}
}

// TestKustomizeTransformsStacks builds a stack whose components name an image and other objects.
func TestKustomizeTransformsStacks(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	directory := filepath.Join(kustomizations, "stack")
	want, err := os.ReadFile(filepath.Join(directory, "want.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	built := objectsIn(t, n.Kubectl.Run("kustomize", directory))
	for name, object := range objectsIn(t, string(want)) {
		framework.ExpectEqual(t, name, object, built[name])
	}
}

// TestKustomizePatchesMergeListsByKey uses the schema of the cluster in kustomize. Patches then merge the lists of a box by their
// keys, like the cluster. Without the schema, they would replace the lists.
func TestKustomizePatchesMergeListsByKey(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	dir := t.TempDir()
	write := func(file, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("openapi.json", n.Kubectl.Run("get", "--raw=/openapi/v2"))
	write("boxes.yaml", `
apiVersion: model.github.com/v1
kind: ModelBox
metadata: {name: web}
spec:
  image: nginx:1.7.9
  envs: [{name: KEPT, value: "1"}, {name: CHANGED, value: "1"}]
  ports: [{port: 80}]
  containers: [{name: kept, image: nginx:1.7.9}, {name: changed, image: nginx:1.7.9}]
  volumes: [{name: kept, emptyDir: {}}, {name: deleted, emptyDir: {}}]
`)
	write("kustomization.yaml", `
resources: [boxes.yaml]
openapi: {path: openapi.json}
patches:
- patch: |
    apiVersion: model.github.com/v1
    kind: ModelBox
    metadata: {name: web}
    spec:
      envs: [{name: CHANGED, value: "2"}]
      ports: [{port: 443}]
      containers: [{name: changed, image: nginx:1.8}]
      volumes: [{name: deleted, $patch: delete}]
`)
	built := objectsIn(t, n.Kubectl.Run("kustomize", dir))["ModelBox web"]
	if built == nil {
		t.Fatal("there is no box")
	}
	framework.ExpectEqual(t, "spec", any(map[string]any{
		"image":      "nginx:1.7.9",
		"envs":       []any{map[string]any{"name": "CHANGED", "value": "2"}, map[string]any{"name": "KEPT", "value": "1"}},
		"ports":      []any{map[string]any{"port": int64(443)}, map[string]any{"port": int64(80)}},
		"containers": []any{map[string]any{"name": "changed", "image": "nginx:1.8"}, map[string]any{"name": "kept", "image": "nginx:1.7.9"}},
		"volumes":    []any{map[string]any{"name": "kept", "emptyDir": map[string]any{}}},
	}), built["spec"])
}

// objectsIn returns the objects of YAML documents by kind and name.
func objectsIn(t *testing.T, documents string) map[string]map[string]any {
	t.Helper()
	objects := map[string]map[string]any{}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(documents)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		object := &unstructured.Unstructured{}
		if err == nil {
			document, err = yaml.YAMLToJSON(document)
		}
		if err == nil {
			err = object.UnmarshalJSON(document)
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, documents)
		}
		objects[object.GetKind()+" "+object.GetName()] = object.Object
	}
}
