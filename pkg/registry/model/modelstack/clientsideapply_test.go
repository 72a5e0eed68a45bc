// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// manifest is a stack with these components as kubectl apply sends it.
func manifest(t *testing.T, components string) []byte {
	t.Helper()
	metadata := map[string]any{"name": "shop", "namespace": metav1.NamespaceDefault}
	var list []any
	if err := yaml.UnmarshalStrict([]byte(components), &list); err != nil {
		t.Fatal(err)
	}
	stack := map[string]any{"apiVersion": "model.github.com/v1", "kind": "ModelStack", "metadata": metadata, "spec": map[string]any{"components": list}}
	written, err := json.Marshal(stack)
	if err != nil {
		t.Fatal(err)
	}
	metadata["annotations"] = map[string]string{corev1.LastAppliedConfigAnnotation: string(written)}
	applied, err := json.Marshal(stack)
	if err != nil {
		t.Fatal(err)
	}
	return applied
}

func decodeStack(t *testing.T, data []byte) *model.ModelStack {
	t.Helper()
	served, stack := &modelv1.ModelStack{}, &model.ModelStack{}
	if err := json.Unmarshal(data, served); err != nil {
		t.Fatal(err)
	}
	served.UID, served.ResourceVersion = "1", "7"
	scheme.Default(served)
	if err := scheme.Convert(served, stack, nil); err != nil {
		t.Fatal(err)
	}
	nameBoxes(stack, stack)
	return stack
}

// applyClientSide applies components after others, as kubectl and the server do it together.
func applyClientSide(t *testing.T, first, second string) (old, stack *model.ModelStack) {
	t.Helper()
	original, modified := manifest(t, first), manifest(t, second)
	schema, err := strategicpatch.NewPatchMetaFromStruct(modelv1.ModelStack{})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, original, schema, true)
	if err != nil {
		t.Fatal(err)
	}
	patched, err := strategicpatch.StrategicMergePatch(original, patch, modelv1.ModelStack{})
	if err != nil {
		t.Fatal(err)
	}
	return decodeStack(t, original), decodeStack(t, patched)
}

func TestClientSideApplyOfPorts(t *testing.T) {
	const web = `{name: web, box: {image: "nginx:1.7.9", ports: [{port: 80}]}}`
	dns := func(udp, tcp int) string {
		return fmt.Sprintf(`{name: dns, box: {image: "dns:1", ports: [{port: 53, protocol: UDP, targetPort: %d}, {port: 53, protocol: TCP, targetPort: %d}]}}`, udp, tcp)
	}
	const detail = "client-side apply cannot distinguish the ports with number 53, and the result would differ from what you apply: use kubectl apply --server-side"
	for _, row := range []struct {
		name          string
		first, second string
		change        func(stack *model.ModelStack)
		want          []string
	}{
		{name: "other ports of one number", first: dns(1053, 1053), second: dns(1054, 1055), want: []string{"spec.components[1].box.ports: Forbidden: " + detail}},
		{name: "other ports by server-side apply", first: dns(1053, 1053), second: dns(1054, 1055), change: func(stack *model.ModelStack) {
			stack.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply}}
		}},
		{name: "the same ports and another image", first: dns(1053, 1053), second: `{name: dns, box: {image: "dns:2", ports: [{port: 53, protocol: UDP, targetPort: 1053}, {port: 53, protocol: TCP, targetPort: 1053}]}}`},
		{name: "a component instead of something outside", first: "{name: dns, external: {host: 192.0.2.7, port: 53}}", second: dns(1053, 1054)},
	} {
		t.Run(row.name, func(t *testing.T) {
			old, stack := applyClientSide(t, "["+web+", "+row.first+"]", "["+web+", "+row.second+"]")
			if row.change != nil {
				row.change(stack)
			}
			got := briefly(newStrategy().ValidateUpdate(t.Context(), stack, old))
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("errors, -want +got:\n%s", diff)
			}
		})
	}
}
