// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// newStack returns the stack with the components, whose boxes have names.
func newStack(t testing.TB, components string, changes ...func(*model.ModelStack)) *model.ModelStack {
	t.Helper()
	served := &modelv1.ModelStack{}
	if err := yaml.UnmarshalStrict([]byte("{metadata: {name: shop, namespace: default}, spec: {components: ["+components+"]}}"), served); err != nil {
		t.Fatalf("%s: %v", components, err)
	}
	modelv1.SetObjectDefaults_ModelStack(served)
	stack := &model.ModelStack{}
	if err := modelv1.Convert_v1_ModelStack_To_model_ModelStack(served, stack, nil); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(stack)
	}
	return stack
}

func TestValidateStacks(t *testing.T) {
	const (
		db      = "{name: db, boxName: db, external: {host: db.example.com, port: 3306, credentialsSecretName: db}}"
		plainDB = "{name: db, boxName: db, external: {host: db.example.com, port: 3306}}"
		web     = "{name: web, boxName: web, box: {image: 'nginx:1.7.9', ports: [{port: 80}]}}"
		robot   = "{name: web, boxName: web, box: {image: 'nginx:1.7.9', serviceAccountName: robot}}"
		reader  = "{name: web, boxName: web, dependsOn: [db], box: {image: 'nginx:1.7.9'}}"
		other   = "{name: other, boxName: other, box: {image: 'nginx:1.7.9', workload: StatefulSet, serviceAccountName: robot}}"

		client = "{name: client, boxName: client, box: {image: 'curl:8'}}"

		createNetworkPolicies = "jane: create networkpolicies.networking.k8s.io/ in default"

		createEndpointSlices = "jane: create endpointslices.discovery.k8s.io/ in default"
		updateBoxes          = "jane: update modelboxes.model.github.com/ in default"
		deleteBoxes          = "jane: delete modelboxes.model.github.com/ in default"
	)
	adopt := func(stack *model.ModelStack) { stack.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"} }
	isolate := func(stack *model.ModelStack) { stack.Spec.Isolate = ptr.To(true) }
	for _, row := range []struct {
		name       string
		granted    []string
		old, stack *model.ModelStack
		asked      []string
		err        string
	}{
		{"ordinary boxes ask for nothing", nil, nil, newStack(t, web), nil, ""},
		{"what runs in a box is asked for at its path", nil, nil, newStack(t, web+", "+strings.ReplaceAll(robot, "web", "app")), []string{createDeployments},
			"spec.components[1].box.serviceAccountName: beyond an ordinary application"},
		{"who has it may", []string{createDeployments}, nil, newStack(t, robot), []string{createDeployments}, ""},
		{"each box asks for its own workload", []string{createDeployments}, nil, newStack(t, robot+", "+other), []string{createDeployments, createStatefulSets},
			`spec.components[1].box.serviceAccountName: beyond an ordinary application, and user "jane" cannot create resource "statefulsets"`},
		{"a box that stays needs no permission", nil, newStack(t, robot), newStack(t, strings.Replace(robot, "1.7.9", "2", 1)), nil, ""},
		{"a box whose component has moved needs none", nil, newStack(t, robot), newStack(t, strings.ReplaceAll(web, "web", "app")+", "+strings.Replace(robot, "1.7.9", "2", 1)), nil, ""},
		{"a box whose component has another name needs none", nil, newStack(t, robot), newStack(t, strings.Replace(robot, "name: web", "name: app", 1)), nil, ""},
		{"another box is another question", nil, newStack(t, robot), newStack(t, strings.Replace(robot, "boxName: web", "boxName: app", 1)), []string{createDeployments},
			"spec.components[0].box.serviceAccountName"},

		{"a way out needs Services", nil, nil, newStack(t, plainDB), []string{createServices}, "spec.components[0].external.host: beyond"},
		{"a way out to an address needs EndpointSlices as well", []string{createServices}, nil, newStack(t, strings.Replace(plainDB, "db.example.com", "192.0.2.7", 1)),
			[]string{createEndpointSlices, createServices}, `cannot create resource "endpointslices" in API group "discovery.k8s.io"`},
		{"a way out stays", nil, newStack(t, plainDB), newStack(t, plainDB+", "+web), nil, ""},
		{"a way out to somewhere else is another question", nil, newStack(t, plainDB), newStack(t, strings.Replace(plainDB, "db.example", "example", 1)), []string{createServices}, "spec.components[0].external.host"},
		{"a box that goes outside needs Services", nil, newStack(t, strings.ReplaceAll(web, "web", "db")), newStack(t, plainDB), []string{createServices}, "spec.components[0].external.host"},

		{"isolation needs NetworkPolicies", nil, nil, newStack(t, web, isolate), []string{createNetworkPolicies}, "spec.isolate: beyond"},
		{"isolation that stays needs no permission", nil, newStack(t, web, isolate), newStack(t, strings.Replace(web, "1.7.9", "2", 1), isolate), nil, ""},
		{"the end of isolation needs no permission", nil, newStack(t, web, isolate), newStack(t, web), nil, ""},
		{"a new connection of an isolated stack is another question", nil, newStack(t, web+", "+client, isolate),
			newStack(t, web+", "+strings.Replace(client, "box:", "dependsOn: [web], box:", 1), isolate), []string{createNetworkPolicies}, "spec.components[1].dependsOn[0]: beyond"},

		{"credentials without a reader need no permission", []string{createServices}, nil, newStack(t, db), []string{createServices}, ""},
		{"credentials are read by what depends on them", []string{createServices}, nil, newStack(t, db+", "+reader), []string{createServices, createDeployments},
			"spec.components[1].dependsOn[0]: beyond"},
		{"a new reader asks", nil, newStack(t, db+", "+web), newStack(t, db+", "+reader), []string{createDeployments}, "spec.components[1].dependsOn[0]"},
		{"another Secret is another question", nil, newStack(t, db+", "+reader), newStack(t, strings.Replace(db, "SecretName: db", "SecretName: root", 1)+", "+reader),
			[]string{createDeployments}, "spec.components[1].dependsOn[0]"},
		{"a reader stays", nil, newStack(t, db+", "+reader), newStack(t, db+", "+strings.Replace(reader, "1.7.9", "2", 1)), nil, ""},

		{"adoption of boxes needs their update and deletion", []string{updateBoxes}, nil, newStack(t, web, adopt), []string{updateBoxes, deleteBoxes},
			`metadata.annotations[model.github.com/adopt]: beyond an ordinary application, and user "jane" cannot delete resource "modelboxes"`},
		{"adoption of one more is another question", nil, newStack(t, web, adopt), newStack(t, web+", "+strings.ReplaceAll(web, "web", "app"), adopt), []string{updateBoxes, deleteBoxes},
			"metadata.annotations"},
		{"a refusal names the annotation once", nil, nil, newStack(t, web+", "+strings.ReplaceAll(web, "web", "app"), adopt), []string{updateBoxes, deleteBoxes},
			"forbidden: metadata.annotations[model.github.com/adopt]: beyond"},
		{"adoption of an external component needs the update and the deletion of its Service and its EndpointSlices", nil, nil, newStack(t, plainDB, adopt),
			[]string{"jane: update services./ in default", "jane: delete services./ in default",
				"jane: update endpointslices.discovery.k8s.io/ in default", "jane: delete endpointslices.discovery.k8s.io/ in default", createServices}, "metadata.annotations"},
		{"an adopted box that goes outside is another question", []string{createServices}, newStack(t, strings.ReplaceAll(web, "web", "db"), adopt), newStack(t, plainDB, adopt),
			[]string{"jane: update services./ in default", "jane: delete services./ in default",
				"jane: update endpointslices.discovery.k8s.io/ in default", "jane: delete endpointslices.discovery.k8s.io/ in default", createServices}, "metadata.annotations"},
	} {
		t.Run(row.name, func(t *testing.T) {
			permissions := &permissions{granted: map[string]bool{}}
			for _, granted := range row.granted {
				permissions.granted[granted] = true
			}
			plugin := newPlugin()
			plugin.SetUnconditionalAuthorizer(permissions)
			operation, before := admission.Create, runtime.Object(nil)
			if row.old != nil {
				operation, before = admission.Update, row.old
			}
			err := plugin.Validate(t.Context(), admission.NewAttributesRecord(row.stack, before,
				modelv1.SchemeGroupVersion.WithKind("ModelStack"), "default", "shop",
				modelv1.SchemeGroupVersion.WithResource("modelstacks"), "", operation, nil, false, &user.DefaultInfo{Name: "jane"}), nil)
			if diff := cmp.Diff(row.asked, permissions.asked); diff != "" {
				t.Errorf("asked, -want +got:\n%s", diff)
			}
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("got %v, want %q", err, row.err)
			}
		})
	}
}
