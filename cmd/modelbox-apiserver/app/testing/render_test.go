// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/fuzzer"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

const (
	// renderedVariable is how many random boxes are compared.
	renderedVariable = "MODELBOX_E2E_RENDERED_BOXES"
	// shortRendered is more than there are samples, which have children of each kind.
	shortRendered = 120

	// editsPerBox is how many choices the edits of a random box are made by at most.
	editsPerBox = 16
	// applyTimeout is how long the controllers may take for all boxes.
	applyTimeout = 10 * time.Minute
)

// childLists returns the collections that the controllers read, by path. The cluster has no objects of them.
func childLists() map[string]metav1.TypeMeta {
	lists := map[string]metav1.TypeMeta{}
	for _, kind := range childkinds.All() {
		if kind.IsOptional {
			continue
		}
		prefix := "/apis/" + kind.Group
		if kind.Group == "" {
			prefix = "/api"
		}
		lists[prefix+"/"+kind.Version+"/"+kind.Resource] = metav1.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind + "List"}
	}
	maps.Copy(lists, map[string]metav1.TypeMeta{
		"/api/v1/pods": {APIVersion: "v1", Kind: "PodList"},
		"/apis/networking.k8s.io/v1/ingressclasses": {APIVersion: "networking.k8s.io/v1", Kind: "IngressClassList"},
		"/apis/batch/v1/jobs":                       {APIVersion: "batch/v1", Kind: "JobList"},
		"/apis/discovery.k8s.io/v1/endpointslices":  {APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSliceList"},
		"/apis/events.k8s.io/v1/events":             {APIVersion: "events.k8s.io/v1", Kind: "EventList"},
		"/apis/apps/v1/controllerrevisions":         {APIVersion: "apps/v1", Kind: "ControllerRevisionList"},
	})
	return lists
}

// appliedChildren keeps what the controllers apply to a cluster that takes it and shows none of it.
type appliedChildren struct {
	lists  map[string]metav1.TypeMeta
	mu     sync.Mutex
	bodies map[string][]byte
}

// ServeHTTP serves the cluster.
func (a *appliedChildren) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	list, isList := a.lists[r.URL.Path]
	isMetadata := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	switch {
	case r.URL.Path == "/version":
		answer(w, http.StatusOK, &version.Info{GitVersion: "v1.37.2"})
	case r.URL.Path == "/openapi/v3": // without a document that lacks a field
		answer(w, http.StatusOK, map[string]any{"paths": map[string]any{}})
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.ApplyPatchType):
		a.apply(w, r)
	case r.Method == http.MethodGet && isList && !isMetadata && r.URL.Query().Has("watch"):
		watchNothing(w, r, metav1.TypeMeta{APIVersion: list.APIVersion, Kind: strings.TrimSuffix(list.Kind, "List")})
	case r.Method == http.MethodGet && isList && !isMetadata:
		answer(w, http.StatusOK, &metav1.PartialObjectMetadataList{TypeMeta: list, ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []metav1.PartialObjectMetadata{}})
	default:
		serveCluster(w, r)
	}
}

func (a *appliedChildren) apply(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	child := &unstructured.Unstructured{}
	if err == nil {
		err = child.UnmarshalJSON(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	key := childKey(child)
	if _, isKnown := a.bodies[key]; !isKnown {
		a.bodies[key] = bytes.TrimSpace(body)
	}
	a.mu.Unlock()
	child.SetUID(types.UID(key))
	child.SetResourceVersion("2")
	child.SetCreationTimestamp(metav1.Now())
	answer(w, http.StatusCreated, child.Object)
}

func childKey(child *unstructured.Unstructured) string {
	return child.GetKind() + " " + child.GetNamespace() + "/" + child.GetName()
}

func (a *appliedChildren) of(key string) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bodies[key]
}

// TestRenderIsWhatIsApplied creates random boxes in a server with all its controllers. The server applies exactly the bytes that
// the subresource render returns, except for the Jobs of rollouts.
func TestRenderIsWhatIsApplied(t *testing.T) {
	boxes := shortRendered
	if value, isSet := os.LookupEnv(renderedVariable); isSet {
		var err error
		if boxes, err = strconv.Atoi(value); err != nil {
			t.Fatalf("%s: %v", renderedVariable, err)
		}
	}
	cluster := &appliedChildren{lists: childLists(), bodies: map[string][]byte{}}
	host := httptest.NewServer(cluster)
	t.Cleanup(func() {
		host.CloseClientConnections()
		host.Close()
	})
	server := StartTestServer(t, "--kubeconfig="+writeKubeconfig(t, host.URL))
	client, err := versioned.NewForConfig(server.ClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	names := createRandomBoxes(t, client, boxes)

	deadline := time.Now().Add(applyTimeout)
	compared := map[string]int{}
	for _, name := range names {
		rendered, err := client.ModelV1().ModelBoxes(metav1.NamespaceDefault).GetRender(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatalf("rendering %s: %v", name, err)
		}
		for _, item := range rendered.Items {
			child := &unstructured.Unstructured{}
			if err := child.UnmarshalJSON(item.Raw); err != nil {
				t.Fatal(err)
			}
			if kind, isKnown := childkinds.ByGroupVersionKind(child.GroupVersionKind()); isKnown && kind.IsOptional {
				continue // the cluster does not serve it
			}
			if child.GetLabels()[modelv1.JobTypeLabel] != "" {
				continue // the rollout creates it, and pods of this cluster never run
			}
			applied := cluster.of(childKey(child))
			for ; applied == nil && time.Now().Before(deadline); applied = cluster.of(childKey(child)) {
				time.Sleep(time.Millisecond)
			}
			if !bytes.Equal(applied, item.Raw) {
				t.Fatalf("%s was applied as\n%s\nand is rendered as\n%s", childKey(child), applied, item.Raw)
			}
			compared[child.GetKind()]++
		}
	}
	t.Logf("compared %v", compared)
	for _, kind := range childkinds.All() {
		if !kind.IsOptional && compared[kind.Kind] == 0 {
			t.Errorf("no %s was compared", kind.Kind)
		}
	}
}

// createRandomBoxes creates so many boxes that the server accepts, and returns their names. They are the same each time.
func createRandomBoxes(t *testing.T, client versioned.Interface, count int) []string {
	t.Helper()
	samples := documents(t, "../../../../pkg/render/modelbox/testdata/*.box.yaml")
	editor := fuzzer.NewEditor(append(documents(t, "../../../../pkg/apis/model/v1/testdata/HEAD/model.github.com.v1.ModelBox.yaml"), samples...)...)
	random := rand.NewChaCha8([32]byte{})
	var names []string
	for i := 0; len(names) < count; i++ {
		if i == 50*count {
			t.Fatalf("of %d random boxes, %d are accepted", i, len(names))
		}
		choices := make([]byte, i/len(samples)%editsPerBox)
		_, _ = random.Read(choices) // never fails
		edited, isObject := editor.Edit(samples[i%len(samples)], choices).(map[string]any)
		if !isObject {
			continue
		}
		name := fmt.Sprintf("box-%d", i)
		edited["apiVersion"], edited["kind"] = modelv1.SchemeGroupVersion.String(), "ModelBox"
		metadata := map[string]any{"name": name}
		if original, ok := edited["metadata"].(map[string]any); ok {
			for _, field := range []string{"labels", "annotations"} {
				if value, isSet := original[field]; isSet {
					metadata[field] = value
				}
			}
		}
		edited["metadata"] = metadata
		if spec, ok := edited["spec"].(map[string]any); ok {
			delete(spec, "paused") // nothing is applied of a box that is
			delete(spec, "before") // no workload is applied until its Job has succeeded
		}
		data, err := json.Marshal(edited)
		if err != nil {
			t.Fatal(err)
		}
		err = client.ModelV1().RESTClient().Post().Namespace(metav1.NamespaceDefault).Resource("modelboxes").
			SetHeader("Content-Type", "application/json").Body(data).Do(t.Context()).Error()
		if err == nil {
			names = append(names, name)
		}
	}
	return names
}

// documents returns the objects in YAML files.
func documents(t *testing.T, pattern string) []any {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no %s: %v", pattern, err)
	}
	var documents []any
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var document map[string]any
		if err := yaml.Unmarshal(data, &document); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		documents = append(documents, document)
	}
	return documents
}
