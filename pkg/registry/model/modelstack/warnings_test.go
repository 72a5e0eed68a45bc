// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// runningBoxes are the boxes of a stack with all their pods, which run what the stack says.
func runningBoxes(t *testing.T, stack *model.ModelStack) []*model.ModelBox {
	t.Helper()
	changes, err := helper.BoxChanges(stack, nil)
	if err != nil {
		t.Fatal(err)
	}
	var boxes []*model.ModelBox
	for _, change := range changes {
		box := change.Box
		box.Generation, box.OwnerReferences = 1, []metav1.OwnerReference{*metav1.NewControllerRef(stack, modelv1.SchemeGroupVersion.WithKind("ModelStack"))}
		box.Status.Replicas = *box.Spec.Replicas
		for conditionType, reason := range map[string]string{modelv1.ConditionApplied: modelv1.ReasonApplied, modelv1.ConditionProgressing: modelv1.ReasonRolloutComplete} {
			box.Status.Conditions = append(box.Status.Conditions, metav1.Condition{Type: conditionType, Reason: reason, ObservedGeneration: 1})
		}
		boxes = append(boxes, box)
	}
	return boxes
}

func TestWarningsOnCreate(t *testing.T) {
	stack := newStack(t, `[{name: db, box: {image: mysql, ports: [{port: 3306, nodePort: 30306}]}}, {name: web, box: {image: "nginx:1.7.9"}}]`)
	taken := &model.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "other"}}
	taken.Spec.Ports = stack.Spec.Components[0].Box.Ports
	want := []string{
		"spec.components[0].box.image: " + warn.NoTag("mysql"),
		"spec.components[0].box.ports[0].nodePort: " + warn.AlreadyRequested("30306/TCP", "another ModelBox"),
	}
	if diff := cmp.Diff(want, newStrategy(taken).WarningsOnCreate(t.Context(), stack)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWarningsOnUpdate(t *testing.T) {
	replaced := func(oldnew ...string) string { return strings.NewReplacer(oldnew...).Replace(components) }
	scaled := func(boxes []*model.ModelBox) { *boxes[1].Spec.Replicas, boxes[1].Status.Replicas = 7, 7 }
	for _, row := range []struct {
		name       string
		components string
		change     func([]*model.ModelBox)
		want       []string
	}{
		{"nothing", components, nil, nil},
		{"another image", replaced("api:1", "api:2"), nil, []string{"rolls 4 pods of api"}},
		{"another image of two", replaced("api:1", "api:2", "mysql:8.0", "mysql:9"), nil, []string{"rolls 1 pod of db", "rolls 4 pods of api"}},
		{"another image of a box that is not complete", replaced("api:1", "api:2"), func(boxes []*model.ModelBox) { boxes[1].Status.Conditions = nil },
			[]string{"rolls up to 4 pods of api" + warn.UpdatedPodsStay}},
		{"another image without a tag", replaced("api:1", "api"), nil,
			[]string{"rolls 4 pods of api", "spec.components[2].box.image: " + warn.NoTag("api")}},
		{"another image of a box that others scale", replaced("api:1", "api:2", "replicas: 4, ", ""), scaled, []string{"rolls 7 pods of api"}},
		{"another port of what others depend on", replaced("port: 3306", "port: 3307"), nil,
			[]string{"rolls 1 pod of db", "rolls 4 pods of api", "rolls 1 pod of worker"}},
		{"another port of what is outside", replaced("port: 443", "port: 8443"), nil, []string{"rolls 4 pods of api"}},
		{"a box that comes from outside", replaced("external: {host: auth.example.com, port: 443, credentialsSecretName: auth}", `boxName: auth
  box: {image: "auth:1", ports: [{port: 443}]}`), nil, []string{"rolls 4 pods of api"}},
		{"another dependency", replaced("dependsOn: [db]", "dependsOn: [auth]"), nil, []string{"rolls 1 pod of worker"}},
		{"another image in a paused stack", replaced("api:1", "api:2"), nil, []string{"will roll 4 pods of api when the stack is unpaused"}},
		{"a component less in a paused stack", components[:strings.Index(components, "- name: worker")], nil, []string{"will delete component worker and its pod when the stack is unpaused"}},
		{"more replicas", replaced("replicas: 4", "replicas: 5"), nil, nil},
		{"a component less", components[:strings.Index(components, "- name: worker")], nil, []string{"deletes component worker and its pod"}},
		{"a component less that is outside", replaced("[db, auth]", "[db]", "- name: auth\n  external: {host: auth.example.com, port: 443, credentialsSecretName: auth}\n", ""), nil, []string{"rolls 4 pods of api"}},
		{"a box that goes outside", replaced(`box: {image: "api:1", replicas: 4, ports: [{port: 80, targetPort: 8080}]}`, "external: {host: api.example.com, port: 443}"), nil,
			[]string{"deletes box shop-api of component api and its 4 pods"}},
		{"another name of a box", replaced("name: api", "name: api\n  boxName: shop"), nil, []string{"deletes box shop-api of component api and its 4 pods"}},
		{"another name of a component", replaced("name: worker", "name: worker2\n  boxName: shop-worker"), nil, nil},
		{"a component less whose box belongs to another owner", components[:strings.Index(components, "- name: worker")],
			func(boxes []*model.ModelBox) { boxes[2].OwnerReferences = nil }, []string{"deletes component worker"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := newStack(t, components)
			if strings.Contains(row.name, "others scale") {
				old.Spec.Components[2].Box.Replicas = nil
			}
			stack := newStack(t, row.components)
			stack.Spec.Paused = strings.Contains(row.name, "paused stack")
			old.Spec.Paused = stack.Spec.Paused
			boxes := runningBoxes(t, newStack(t, components))
			if row.change != nil {
				row.change(boxes)
			}
			if diff := cmp.Diff(row.want, newStrategy(boxes...).WarningsOnUpdate(t.Context(), stack, old)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
