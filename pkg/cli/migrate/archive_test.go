// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestExportIsReadAsItWasWritten(t *testing.T) {
	object := custom("web", map[string]any{"image": "nginx:1", "replicas": int64(3)}, map[string]any{
		"labels": map[string]any{"on": "true"}, "annotations": map[string]any{"number": "1e3"}, "generation": int64(7),
	})
	child := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"namespace": "shop", "name": "web", "uid": "uid-of-service"},
		"spec":     map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
	}}
	written := &export{ClusterUID: "cluster", DefinitionUID: "definition", Boxes: []*exportedBox{
		{Namespace: "shop", Name: "web", UID: "uid-of-web", Pods: []pod{{"web-1", "uid-of-pod", 2}}, object: object, children: []*unstructured.Unstructured{child}},
		{Namespace: "shop", Name: "lonely", UID: "uid-of-lonely", object: custom("lonely", map[string]any{}, nil)},
	}}
	directory := filepath.Join(t.TempDir(), "new", "boxes")
	if err := writeExport(directory, written); err != nil {
		t.Fatal(err)
	}
	read, err := readExport(directory)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, read, cmp.AllowUnexported(exportedBox{})); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if err := writeExport(directory, written); err == nil || !strings.Contains(err.Error(), "already has an export") {
		t.Errorf("writing over an export: got %v", err)
	}
}

func TestExportThatIsNotCompleteIsNotRead(t *testing.T) {
	for name, spoil := range map[string]func(directory string) error{
		"without its index":    func(directory string) error { return os.Remove(filepath.Join(directory, indexFile)) },
		"without a box":        func(directory string) error { return os.RemoveAll(filepath.Join(directory, boxesFolder)) },
		"without the children": func(directory string) error { return os.RemoveAll(filepath.Join(directory, childrenFolder)) },
		"with another box of the name": func(directory string) error {
			return os.WriteFile(filepath.Join(directory, boxesFolder, "shop", "web.yaml"), []byte("metadata: {uid: other}"), privateFile)
		},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			written := &export{Boxes: []*exportedBox{{Namespace: "shop", Name: "web", UID: "uid-of-web", object: custom("web", nil, nil)}}}
			if err := writeExport(directory, written); err != nil {
				t.Fatal(err)
			}
			if err := spoil(directory); err != nil {
				t.Fatal(err)
			}
			if _, err := readExport(directory); err == nil {
				t.Error("it was read")
			}
		})
	}
}

func TestBoxesAreExportedInTheOrderOfTheirCreation(t *testing.T) {
	at := func(name, version string, second int64) *exportedBox {
		object := custom(name, nil, map[string]any{"resourceVersion": version})
		object.SetCreationTimestamp(metav1.NewTime(time.Unix(second, 0)))
		return &exportedBox{Namespace: "shop", Name: name, object: object}
	}
	exported := []*exportedBox{at("d", "9", 2), at("c", "10", 1), at("b", "9", 1), at("a", "10", 1)}
	sortByCreation(exported)
	var names []string
	for _, box := range exported {
		names = append(names, box.Name)
	}
	if diff := cmp.Diff([]string{"b", "a", "c", "d"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompareExportsNoticesChanges(t *testing.T) {
	newExport := func() *export {
		object := custom("web", nil, map[string]any{"generation": int64(1)})
		child := &unstructured.Unstructured{Object: map[string]any{"kind": "Deployment"}}
		child.SetUID("uid-of-deployment")
		return &export{Boxes: []*exportedBox{{Namespace: "shop", Name: "web", UID: "uid-of-web", object: object, children: []*unstructured.Unstructured{child}}}}
	}
	for _, row := range []struct {
		name   string
		change func(*export)
		want   string
	}{
		{"nothing", func(*export) {}, ""},
		{"children that are orphans already", func(e *export) { e.Boxes[0].children = nil }, ""},
		{"a finalizer that was taken", func(e *export) { e.Boxes[0].object.SetFinalizers(nil) }, ""},
		{"another spec", func(e *export) { e.Boxes[0].object.SetGeneration(2) }, "was changed after the export"},
		{"another label", func(e *export) { e.Boxes[0].object.SetLabels(map[string]string{"a": "b"}) }, "was changed after the export"},
		{"another annotation", func(e *export) { e.Boxes[0].object.SetAnnotations(map[string]string{"a": "b"}) }, "was changed after the export"},
		{"another child", func(e *export) { e.Boxes[0].children[0].SetUID("other") }, "has a new child Deployment"},
		{"a box that is gone", func(e *export) { e.Boxes = nil }, "was changed after the export"},
		{"a box that was recreated", func(e *export) { e.Boxes[0].UID = types.UID("other") }, "was changed after the export"},
		{"a box more", func(e *export) {
			e.Boxes = append(e.Boxes, &exportedBox{Namespace: "shop", Name: "api", UID: "uid-of-api", object: custom("api", nil, nil)})
		}, "was created after the export"},
	} {
		t.Run(row.name, func(t *testing.T) {
			current := newExport()
			row.change(current)
			err := compareExports(newExport(), current)
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}
