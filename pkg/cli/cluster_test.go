// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelscheme "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
)

// cluster serves objects by their paths. A list has what is below its path and has the labels, and nothing with a field selector.
type cluster struct {
	objects map[string]runtime.Object
	// answers are to requests such as "POST modelboxes/web/restart", in place of what the objects say. A Status refuses, and a text is
	// no object.
	answers map[string]runtime.Object
	// warning is sent with each answer to a request that does not read objects.
	warning string

	mu sync.Mutex
	// requests are those that do not read objects, with their bodies.
	requests []string
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
	refuse := func(err *apierrors.StatusError) { answer(int(err.ErrStatus.Code), refusal(err)) }
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
	if r.Method != http.MethodGet || isSubresource(r.URL.Path) {
		c.record(r)
		if c.warning != "" {
			w.Header().Set("Warning", `299 - "`+c.warning+`"`)
		}
	}
	object, isThere := c.objects[r.URL.Path]
	list, isList := c.list(r.URL.Path, r.URL.Query().Get("labelSelector"))
	given, isGiven := c.answers[r.Method+" "+shortPath(r.URL.Path)]
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		refuse(apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "watch", modelv1.Resource(""), "", "there are no watches", 0, false))
	case isGiven:
		switch given := given.(type) {
		case text:
			_, _ = io.WriteString(w, given.lines)
		case *metav1.Status:
			answer(int(given.Code), given)
		default:
			answer(http.StatusOK, given)
		}
	case r.Method == http.MethodGet && isThere:
		answer(http.StatusOK, object)
	case r.Method == http.MethodGet && isList:
		if r.URL.Query().Get("fieldSelector") != "" {
			list["items"] = []any{}
		}
		answer(http.StatusOK, list)
	default:
		refuse(apierrors.NewNotFound(modelv1.Resource(""), path.Base(r.URL.Path)))
	}
}

// text is an answer that is no object: a log.
type text struct {
	runtime.Object
	lines string
}

// refusal returns what a cluster answers for an error.
func refusal(err *apierrors.StatusError) *metav1.Status {
	status := err.ErrStatus
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return &status
}

// forbidden is the answer to a request that the user may not send.
func forbidden(resource string) *metav1.Status {
	return refusal(apierrors.NewForbidden(modelv1.Resource(resource), "", errors.New("it may not")))
}

// conflict is the answer to a change of an object that another client has changed.
func conflict(name string) *metav1.Status {
	return refusal(apierrors.NewConflict(modelv1.Resource("modelboxes"), name, errors.New("the object has been modified")))
}

// shortPath returns what follows the group and version, without the namespace default.
func shortPath(path string) string {
	_, short, ok := strings.Cut(path, "/v1/namespaces/")
	if !ok {
		return path
	}
	return strings.TrimPrefix(short, "default/")
}

// isSubresource returns whether a path has more than a namespace, a resource and a name.
func isSubresource(path string) bool {
	_, short, ok := strings.Cut(path, "/v1/namespaces/")
	return ok && strings.Count(short, "/") > 2
}

// record adds a request as one line: verb, path, query, and the body as JSON, for a patch after its type.
func (c *cluster) record(r *http.Request) {
	line := r.Method + " " + shortPath(r.URL.Path)
	if query := r.URL.Query().Encode(); query != "" {
		line += "?" + query
	}
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Method == http.MethodPatch:
		line += " " + strings.TrimPrefix(r.Header.Get("Content-Type"), "application/") + " " + string(body)
	case len(body) > 0:
		line += " " + plainJSON(body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, line)
}

// plainJSON returns an object, in any encoding, as JSON without empty fields.
func plainJSON(data []byte) string {
	content := map[string]any{}
	object, kind, err := modelscheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err == nil {
		object.GetObjectKind().SetGroupVersionKind(*kind)
		content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	}
	if err != nil {
		return err.Error()
	}
	prune(content)
	text, err := json.Marshal(content)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func prune(content map[string]any) {
	for key, value := range content {
		below, isMap := value.(map[string]any)
		if isMap {
			prune(below)
		}
		if value == nil || isMap && len(below) == 0 {
			delete(content, key)
		}
	}
}

var namespaces = regexp.MustCompile("/namespaces/[^/]+")

// list returns the list of a path, false where that is not one of a resource.
func (c *cluster) list(of, selector string) (map[string]any, bool) {
	selected, err := labels.Parse(selector)
	if err != nil {
		return nil, false
	}
	for version, all := range resources {
		for i := range all {
			if !strings.HasSuffix(namespaces.ReplaceAllString(of, ""), "/"+version+"/"+all[i].Name) {
				continue
			}
			paths := []string{}
			for at, object := range c.objects {
				parent := path.Dir(at)
				accessor, err := meta.Accessor(object)
				if err == nil && (parent == of || namespaces.ReplaceAllString(parent, "") == of) && selected.Matches(labels.Set(accessor.GetLabels())) {
					paths = append(paths, at)
				}
			}
			slices.Sort(paths)
			items := []any{}
			for _, at := range paths {
				items = append(items, c.objects[at])
			}
			return map[string]any{"apiVersion": version, "kind": all[i].Kind + "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": items}, true
		}
	}
	return nil, false
}

// exit is what a command of kubectl's ends with.
type exit struct {
	message string
	code    int
}

func (e exit) Error() string { return e.message }

// run runs a command of the plugin in the cluster, and returns what it prints on both outputs, and its error.
func run(t *testing.T, c *cluster, arguments ...string) (output, errOutput string, err error) {
	t.Helper()
	server := httptest.NewServer(c)
	defer server.Close()
	cmdutil.BehaviorOnFatal(func(message string, code int) { panic(exit{message, code}) })
	defer cmdutil.DefaultBehaviorOnFatal()
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	defer func() {
		output, errOutput = out.String(), errOut.String()
		switch ended := recover().(type) {
		case nil:
		case exit:
			err = ended
		default:
			panic(ended)
		}
	}()
	cmd := NewCommand(streams)
	flags := []string{"--server=" + server.URL, "--namespace=default", "--cache-dir=" + t.TempDir(), "--kubeconfig=/dev/null"}
	at := 1
	if arguments[0] == "__complete" {
		at = 2
	}
	cmd.SetArgs(slices.Concat(arguments[:at], flags, arguments[at:]))
	cmd.SetContext(t.Context())
	cmd.SilenceErrors = true
	return "", "", cmd.Execute()
}

// stored returns objects by their paths.
func stored(objects ...runtime.Object) map[string]runtime.Object {
	paths := map[string]runtime.Object{}
	for _, object := range objects {
		kind := object.GetObjectKind().GroupVersionKind()
		accessor, err := meta.Accessor(object)
		if err != nil {
			panic(err)
		}
		all := resources[kind.GroupVersion().String()]
		i := slices.IndexFunc(all, func(resource metav1.APIResource) bool { return resource.Kind == kind.Kind })
		root := "/apis/"
		if kind.Group == "" {
			root = "/api/"
		}
		paths[root+path.Join(kind.GroupVersion().String(), "namespaces", accessor.GetNamespace(), all[i].Name, accessor.GetName())] = object
	}
	return paths
}

func newBox(name string) *modelv1.ModelBox {
	box := &modelv1.ModelBox{
		TypeMeta:   metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBox"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Generation: 1, ResourceVersion: "7"},
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

// newFrontBox returns a box with a label.
func newFrontBox(name string) *modelv1.ModelBox {
	box := newBox(name)
	box.Labels = map[string]string{"tier": "front"}
	return box
}

// newStack returns the stack shop, whose components are the boxes shop-web and shop-db, and one outside the cluster.
func newStack() *modelv1.ModelStack {
	return &modelv1.ModelStack{
		TypeMeta:   metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelStack"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop", UID: "shop", ResourceVersion: "7"},
		Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{
			{Name: "web", BoxName: "shop-web", Box: &modelv1.ModelBoxSpec{Image: "nginx:1.7.9"}},
			{Name: "mail", BoxName: "shop-mail", External: &modelv1.ModelStackExternal{}},
			{Name: "db", BoxName: "shop-db", Box: &modelv1.ModelBoxSpec{Image: "mysql:8.4"}},
		}},
	}
}

// newComponent returns the box of a component of the stack shop.
func newComponent(name string) *modelv1.ModelBox {
	box := newBox(name)
	box.OwnerReferences = []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelStack", Name: "shop", UID: "shop", Controller: ptr.To(true)}}
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

// withComponents returns the stack shop with its boxes, and boxes of no stack. The box shop-db is of the stack with that UID.
func withComponents(stack types.UID) map[string]runtime.Object {
	db := newComponent("shop-db")
	db.OwnerReferences[0].UID = stack
	return stored(newStack(), newComponent("shop-web"), db, newFrontBox("web"), newFrontBox("mail"))
}

// Files: of a box, of all that kubectl applies together, and of a box that is not in the cluster.
const (
	webFile = `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: "nginx:1.9.1"}}`
	allFile = webFile + `
---
{apiVersion: v1, kind: Pod, metadata: {name: other}}
---
{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: shop}, spec: {components: [{name: web, box: {image: "nginx:1.9.1"}}]}}`
	nopeFile = `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: nope}, spec: {image: "nginx:1.9.1"}}`
)

// The bodies of requests for what is in files.
const (
	webBody   = ` {"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":"web","namespace":"default"},"spec":{"image":"nginx:1.9.1"}}`
	stackBody = ` {"apiVersion":"model.github.com/v1","kind":"ModelStack","metadata":{"name":"shop","namespace":"default"},` +
		`"spec":{"components":[{"box":{"image":"nginx:1.9.1"},"name":"web"}]}}`
)

// listOf returns a List of objects in JSON.
func listOf(items ...string) *metav1.List {
	list := &metav1.List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}}
	for _, item := range items {
		list.Items = append(list.Items, runtime.RawExtension{Raw: []byte(item)})
	}
	return list
}
