// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/boxes"
)

const (
	boxesPath       = "/apis/model.github.com/v1/namespaces/default/modelboxes"
	podsPath        = "/api/v1/namespaces/default/pods"
	deploymentsPath = "/apis/apps/v1/namespaces/default/deployments"
)

// cluster serves objects by their paths. A list has what is below its path, and nothing with a field selector.
type cluster struct {
	objects map[string]runtime.Object

	mu sync.Mutex
	// others are the requests that do not read objects.
	others []string
}

var resources = map[string][]metav1.APIResource{
	"v1": {{Name: "pods", SingularName: "pod", Kind: "Pod", Namespaced: true}, {Name: "events", SingularName: "event", Kind: "Event", Namespaced: true}},
	"apps/v1": {
		{Name: "deployments", SingularName: "deployment", ShortNames: []string{"deploy"}, Kind: "Deployment", Namespaced: true},
		{Name: "statefulsets", Kind: "StatefulSet", Namespaced: true},
		{Name: "daemonsets", Kind: "DaemonSet", Namespaced: true},
		{Name: "replicasets", Kind: "ReplicaSet", Namespaced: true},
	},
	"model.github.com/v1": {
		{Name: "modelboxes", SingularName: "modelbox", ShortNames: []string{"mb"}, Kind: "ModelBox", Namespaced: true},
		{Name: "modelstacks", SingularName: "modelstack", ShortNames: []string{"mst"}, Kind: "ModelStack", Namespaced: true},
	},
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(code int, object any) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(object)
	}
	refuse := func(code int, reason metav1.StatusReason, message string) {
		answer(code, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: reason, Code: int32(code), Message: message})
	}
	switch r.URL.Path {
	case "/api":
		answer(http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
		return
	case "/apis":
		groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
		for _, group := range []string{"apps", "model.github.com"} {
			version := metav1.GroupVersionForDiscovery{GroupVersion: group + "/v1", Version: "v1"}
			groups.Groups = append(groups.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version})
		}
		answer(http.StatusOK, groups)
		return
	}
	version := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api/")
	if list, ok := resources[version]; ok {
		answer(http.StatusOK, metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: version, APIResources: list})
		return
	}
	object, isThere := c.objects[r.URL.Path]
	list, isList := c.list(r.URL.Path)
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "there are no watches")
	case r.Method == http.MethodGet && isThere:
		answer(http.StatusOK, object)
	case r.Method == http.MethodGet && isList:
		if r.URL.Query().Get("fieldSelector") != "" {
			list["items"] = []any{}
		}
		answer(http.StatusOK, list)
	default:
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if r.Method != http.MethodGet || strings.HasPrefix(r.URL.Path, podsPath) {
			c.mu.Lock()
			c.others = append(c.others, r.URL.Path)
			c.mu.Unlock()
		}
		refuse(http.StatusNotFound, metav1.StatusReasonNotFound, `"`+name+`" not found`)
	}
}

// list returns the list of a path, false where that is not one of a resource in a namespace.
func (c *cluster) list(path string) (map[string]any, bool) {
	for version, all := range resources {
		for i := range all {
			if !strings.HasSuffix(path, "/"+version+"/namespaces/default/"+all[i].Name) {
				continue
			}
			items := []any{}
			for at, object := range c.objects {
				if name, isBelow := strings.CutPrefix(at, path+"/"); isBelow && !strings.Contains(name, "/") {
					items = append(items, object)
				}
			}
			return map[string]any{"apiVersion": version, "kind": all[i].Kind + "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": items}, true
		}
	}
	return nil, false
}

// exit is what a command of kubectl's ends with.
type exit struct{ message string }

// run runs a command of the plugin in the cluster, and returns what it prints and its error.
func run(t *testing.T, c *cluster, arguments ...string) (output string, err error) {
	t.Helper()
	server := httptest.NewServer(c)
	defer server.Close()
	cmdutil.BehaviorOnFatal(func(message string, _ int) { panic(exit{message}) })
	defer cmdutil.DefaultBehaviorOnFatal()
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case exit:
			err = errors.New(ended.message)
		default:
			panic(ended)
		}
	}()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	defer func() { output = out.String() }()
	cmd := NewCommand(streams)
	flags := []string{"--server=" + server.URL, "--namespace=default", "--cache-dir=" + t.TempDir(), "--kubeconfig=/dev/null"}
	at := 1
	if arguments[0] == "__complete" {
		at = 2
	}
	cmd.SetArgs(slices.Concat(arguments[:at], flags, arguments[at:]))
	cmd.SetContext(t.Context())
	cmd.SilenceErrors = true
	return "", cmd.Execute()
}

func newBox(name string) *modelv1.ModelBox {
	box := &modelv1.ModelBox{
		TypeMeta:   metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBox"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Generation: 1},
		Spec:       modelv1.ModelBoxSpec{Name: name, Image: "nginx:1.7.9", Replicas: ptr.To[int32](1), Containers: []corev1.Container{{Name: "sidecar"}}},
	}
	box.Status.ObservedGeneration = 1
	box.Status.Conditions = []metav1.Condition{{Type: modelv1.ConditionReady, Status: metav1.ConditionTrue, Reason: modelv1.ReasonReady, ObservedGeneration: 1}}
	return box
}

// newExposedBox returns a box with a port.
func newExposedBox(name string) *modelv1.ModelBox {
	box := newBox(name)
	box.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}}
	return box
}

func newDeployment(name, box string) *appsv1.Deployment {
	deployment := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "nginx:1.7.9"}}
	if box != "" {
		deployment.OwnerReferences = []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: box, Controller: ptr.To(true)}}
	}
	return deployment
}

func newPod(name, box string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{modelv1.SelectorLabel: box}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// TestCommands is not parallel: kubectl's commands have variables of the process.
func TestCommands(t *testing.T) {
	history := &modelv1.ModelBoxHistory{
		TypeMeta:   metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxHistory"},
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Revisions:  []modelv1.ModelBoxRevision{{Revision: 1, Images: []string{"nginx:1"}}, {Revision: 12, Images: []string{"nginx:2"}}},
	}
	objects := map[string]runtime.Object{
		boxesPath + "/web":             newBox("web"),
		boxesPath + "/front":           newExposedBox("front"),
		boxesPath + "/web/history":     history,
		boxesPath + "/mail":            newBox("mail"),
		deploymentsPath + "/web":       newDeployment("web", "web"),
		deploymentsPath + "/unrelated": newDeployment("unrelated", ""),
		podsPath + "/web-1":            newPod("web-1", "web"),
		podsPath + "/mail-1":           newPod("mail-1", "mail"),
	}
	for _, row := range []struct {
		name      string
		arguments []string
		output    []string
		// fails is what the error has, empty for none.
		fails string
		// others are the requests that do not read objects.
		others []string
	}{
		{"status shows the rest where a name is not found", []string{"status", "web", "nope", "--show-events=false", "--output=name"},
			[]string{"modelbox.model.github.com/web"}, `"nope" not found`, nil},
		{"status of names that are not found", []string{"status", "nope", "neither"}, nil, `"neither" not found`, nil},
		{"set image refuses the Deployment of a box", []string{"set", "image", "deploy/web", "web=nginx:1.9.1"}, nil,
			"deployments/web belongs to modelboxes/web, which restores it: change the box, with kubectl modelbox set image web", nil},
		{"set resources refuses it", []string{"set", "resources", "deploy/web", "--limits=cpu=1"}, nil, "kubectl modelbox set resources web", nil},
		{"set env refuses it", []string{"set", "env", "deploy/web", "A=b"}, nil, "kubectl modelbox set env web", nil},
		{"set env lists it", []string{"set", "env", "deploy/web", "--list"}, []string{"# Deployment web, container web"}, "", nil},
		{"set image changes another Deployment", []string{"set", "image", "deploy/unrelated", "web=nginx:1.9.1"}, nil, "not found", []string{deploymentsPath + "/unrelated"}},
		{"expose at a port", []string{"expose", "web", "--port=80", "--target-port=http", "--dry-run=client", "--output=jsonpath={.spec.ports}"},
			[]string{`[{"port":80,"protocol":"TCP","targetPort":"http"}]`}, "", nil},
		{"expose at a port that there is", []string{"expose", "front", "--port=80", "--target-port=8080", "--dry-run=client", "--output=jsonpath={.spec.ports}"},
			[]string{`[{"name":"http","port":80,"protocol":"TCP","targetPort":8080}]`}, "", nil},
		{"expose at another protocol", []string{"expose", "front", "--port=80", "--protocol=UDP", "--dry-run=client", "--output=jsonpath={.spec.ports[*].protocol}"},
			[]string{"TCP UDP"}, "", nil},
		{"expose by a type and an Ingress", []string{"expose", "front", "--type=LoadBalancer", "--host=a.example.com", "--host=b.example.com", "--path=/shop",
			"--dry-run=client", "--output=jsonpath={.spec.serviceType} {.spec.ingress.hosts[*]} {.spec.ingress.path}"},
			[]string{"LoadBalancer a.example.com b.example.com /shop"}, "", nil},
		{"expose by a dry run", []string{"expose", "front", "--type=LoadBalancer", "--dry-run=client"}, []string{"modelbox.model.github.com/front exposed (dry run)"}, "", nil},
		{"expose in the cluster", []string{"expose", "front", "--type=LoadBalancer"}, nil, "modelboxes/front: ", []string{boxesPath + "/front"}},
		{"expose as it is", []string{"expose", "front", "--port=80"}, nil, "modelboxes/front: is so already", nil},
		{"expose without a port", []string{"expose", "web", "--type=NodePort"}, nil, "modelboxes/web: has no ports: couldn't find port via --port flag or in the box", nil},
		{"expose in no way", []string{"expose", "web"}, nil, "one of --port, --type, --host and --path must be specified", nil},
		{"expose a target port alone", []string{"expose", "web", "--target-port=80", "--type=NodePort"}, nil, "--protocol and --target-port are those of --port", nil},
		{"set config", []string{"set", "config", "web", "--mount-path=/etc/web", "--from-literal=a=b", "--dry-run=client", "--output=jsonpath={.spec.configs}"},
			[]string{`[{"data":{"a":"b"},"mountPath":"/etc/web"}]`}, "", nil},
		{"set config without files", []string{"set", "config", "web"}, nil, "one of --from-file, --from-literal and --mount-path must be specified", nil},
		{"exec in a pod that is named", []string{"exec", "web", "--pod=web-1", "--", "date"}, nil, "not found", []string{podsPath + "/web-1/exec"}},
		{"exec in a pod of another box", []string{"exec", "web", "--pod=mail-1", "--", "date"}, nil, "pod mail-1 is not one of box web", nil},
		{"attach to a pod of another box", []string{"attach", "web", "--pod=mail-1"}, nil, "pod mail-1 is not one of box web", nil},
		{"port-forward to a pod of another box", []string{"port-forward", "web", ":80", "--pod=mail-1"}, nil, "pod mail-1 is not one of box web", nil},
		{"wait for all boxes", []string{"wait", "--all"}, []string{"modelbox.model.github.com/front condition met", "modelbox.model.github.com/mail condition met", "modelbox.model.github.com/web condition met"}, "", nil},
		{"wait for all of a type", []string{"wait", "mst", "--all"}, nil, "no matching resources found", nil},
		{"wait for all and a name", []string{"wait", "web", "--all"}, nil, "--all excludes names", nil},
		{"wait for something else", []string{"wait", "web", "--for=create"}, nil, `--for must be ready or delete, not "create"`, nil},
		{"wait for a deletion", []string{"wait", "web", "nope", "--for=delete"}, []string{"modelbox.model.github.com/web condition met"}, "", nil},
		{"wait for the deletion of nothing", []string{"wait", "nope", "--for=delete"}, nil, "", nil},
		{"look for a deletion", []string{"wait", "web", "--for=delete", "--timeout=0"}, nil, "timed out waiting for the deletion of modelboxes/web", nil},
		{"complete a container", []string{"__complete", "set", "image", "web", "s"}, []string{"sidecar=", ":6"}, "", nil},
		{"complete another container", []string{"__complete", "set", "image", "web", "sidecar=a", ""}, []string{"web=", ":6"}, "", nil},
		{"complete a revision", []string{"__complete", "rollback", "web", "--to-revision", "1"}, []string{"1\tnginx:1", "12\tnginx:2", ":36"}, "", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			boxes.TeachKubectl()
			defer keepFunctions()()
			c := &cluster{objects: objects}
			output, err := run(t, c, row.arguments...)
			got := strings.FieldsFunc(output, func(r rune) bool { return r == '\n' })
			slices.Sort(got)
			slices.Sort(row.output)
			if diff := cmp.Diff(row.output, got); diff != "" && len(row.output)+len(got) > 0 {
				t.Errorf("-want +got:\n%s", diff)
			}
			if (err != nil) != (row.fails != "") || err != nil && !strings.Contains(err.Error(), row.fails) {
				t.Errorf("got %v, want %q", err, row.fails)
			}
			if diff := cmp.Diff(row.others, slices.Compact(c.others)); diff != "" {
				t.Errorf("requests that do not read objects, -want +got:\n%s", diff)
			}
		})
	}
}

// keepFunctions returns what restores the functions that a command sets for its process.
func keepFunctions() func() {
	update, attachable := polymorphichelpers.UpdatePodSpecForObjectFn, polymorphichelpers.AttachablePodForObjectFn
	return func() {
		polymorphichelpers.UpdatePodSpecForObjectFn, polymorphichelpers.AttachablePodForObjectFn = update, attachable
	}
}
