// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package testing

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/costtest"
)

const (
	// listedBoxes and watchers are how many boxes a list has, and how many watches see an update.
	listedBoxes = 100
	watchers    = 50

	// repetitions is how often requests to other servers are counted, each time of another user.
	repetitions = 3

	gzip, identity = "gzip", "identity"
)

// TestCost counts the requests that the server sends for requests for boxes, and the bytes in etcd and in responses.
func TestCost(t *testing.T) {
	meter := costtest.NewMeter(t, "server")
	cluster := &recordedCluster{}
	server := startServerOf(t, cluster)
	author := newCostClient(t, server, "author", "default")
	t.Run("requests", func(t *testing.T) { countRequests(t, meter, server, cluster) })
	t.Run("bytes", func(t *testing.T) { countBytes(t, meter, server, author) })
}

// TestCostOfRequests counts the allocations of the server, its etcd and the client for requests for boxes. Background work adds to them
// on a machine with other work. Therefore, the test has a make target of its own.
func TestCostOfRequests(t *testing.T) {
	if os.Getenv("MODELBOX_TEST_COST") == "" {
		t.Skip("\"make test-cost\" runs this test: it needs a machine without other work")
	}
	meter := costtest.NewMeter(t, "requests")
	server := startServerOf(t, &recordedCluster{})
	countAllocations(t, meter, newCostClient(t, server, "author", "default"))
}

// startServerOf starts a server of the cluster.
func startServerOf(t *testing.T, cluster *recordedCluster) *TestServer {
	t.Helper()
	host := httptest.NewServer(cluster)
	t.Cleanup(func() {
		host.CloseClientConnections()
		host.Close()
	})
	kubeconfig := writeKubeconfig(t, host.URL)
	return StartTestServer(t,
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig)
}

func countAllocations(t *testing.T, meter *costtest.Meter, c *costClient) {
	created := 0
	meter.Allocations("create", func() {
		c.create(t, fmt.Sprintf("web-%d", created))
		created++
	})
	meter.Allocations("delete", func() {
		created--
		c.delete(t, fmt.Sprintf("web-%d", created))
	})

	c.create(t, "web")
	meter.Allocations("update of the status", func() { c.updateStatus(t, "web") })
	meter.Allocations("update", func() { c.update(t, "web") })
	meter.Allocations("merge patch", func() { c.patch(t, "web") })
	meter.Allocations("server-side apply", func() { c.apply(t, "web") })
	meter.Allocations("get as protobuf", func() { c.get(t, "web", runtime.ContentTypeProtobuf) })
	meter.Allocations("get as JSON", func() { c.get(t, "web", runtime.ContentTypeJSON) })

	streams := make([]*bufio.Reader, 0, watchers)
	for range watchers {
		streams = append(streams, c.watch(t))
	}
	meter.Allocations(fmt.Sprintf("merge patch that %d watches see", watchers), func() {
		c.patch(t, "web")
		for _, stream := range streams {
			if _, err := stream.ReadSlice('\n'); err != nil {
				t.Fatal(err)
			}
		}
	})

	many := c.createMany(t)
	meter.Allocations(fmt.Sprintf("list of %d as protobuf", listedBoxes), func() { many.list(t, runtime.ContentTypeProtobuf, identity) })
	meter.Allocations(fmt.Sprintf("list of %d as JSON", listedBoxes), func() { many.list(t, runtime.ContentTypeJSON, identity) })
}

// createMany creates the boxes of a list in a namespace of their own, and returns a client for that namespace.
func (c *costClient) createMany(t *testing.T) *costClient {
	t.Helper()
	many := c.in("many")
	for i := range listedBoxes {
		many.create(t, fmt.Sprintf("web-%d", i))
	}
	return many
}

func countBytes(t *testing.T, meter *costtest.Meter, server *TestServer, c *costClient) {
	c.create(t, "web")
	stored, err := server.EtcdClient.Get(t.Context(), "/registry/model.github.com/modelboxes/default/web")
	if err != nil || len(stored.Kvs) != 1 {
		t.Fatalf("got %v, %v", stored, err)
	}
	meter.Bytes("box in etcd", len(stored.Kvs[0].Value))
	many := c.createMany(t)
	for _, format := range []struct{ name, mediaType string }{{"protobuf", runtime.ContentTypeProtobuf}, {"JSON", runtime.ContentTypeJSON}} {
		meter.Bytes("box as "+format.name, len(c.get(t, "web", format.mediaType)))
		list := fmt.Sprintf("list of %d as %s", listedBoxes, format.name)
		meter.Bytes(list, len(many.list(t, format.mediaType, identity)))
		meter.Bytes(list+", compressed", len(many.list(t, format.mediaType, gzip)))
	}
}

// countRequests counts the requests for a user who has a box from its creation to its deletion.
func countRequests(t *testing.T, meter *costtest.Meter, server *TestServer, cluster *recordedCluster) {
	steps := []struct {
		name string
		do   func(c *costClient, name string)
	}{
		{"create", func(c *costClient, name string) { c.create(t, name) }},
		{"create again", func(c *costClient, name string) { c.create(t, name+"-2") }},
		{"update of the status", func(c *costClient, name string) { c.updateStatus(t, name) }},
		{"update", func(c *costClient, name string) { c.update(t, name) }},
		{"merge patch", func(c *costClient, name string) { c.patch(t, name) }},
		{"server-side apply", func(c *costClient, name string) { c.apply(t, name) }},
		{"update without a change", func(c *costClient, name string) { c.write(t, http.MethodPut, name, "", c.box(name, 0)) }},
		{"get", func(c *costClient, name string) { c.get(t, name, runtime.ContentTypeProtobuf) }},
		{"list", func(c *costClient, _ string) { c.list(t, runtime.ContentTypeProtobuf, identity) }},
		{"delete", func(c *costClient, name string) { c.delete(t, name) }},
	}
	byStep := make([][][]string, len(steps))
	for i := range repetitions {
		name := fmt.Sprintf("user-%d", i)
		c := newCostClient(t, server, name, "default")
		for step := range steps {
			cluster.take()
			before := etcdRequests(t)
			steps[step].do(c, name)
			requests := cluster.take()
			for request, count := range etcdRequests(t) {
				for range count - before[request] {
					requests = append(requests, request)
				}
			}
			byStep[step] = append(byStep[step], requests)
		}
		c.delete(t, name+"-2")
	}
	for i, step := range steps {
		meter.Requests(step.name, byStep[i]...)
	}
}

// costClient is a client that allocates as little as possible. Every other write of a box has the same image, so that each write is a
// change.
type costClient struct {
	http            *http.Client
	host, namespace string
	template        *modelv1.ModelBox
	writes          int
}

func newCostClient(t *testing.T, server *TestServer, user, namespace string) *costClient {
	t.Helper()
	config := rest.CopyConfig(server.ClientConfig)
	config.BearerToken = user
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &costClient{http: client, host: config.Host, namespace: namespace, template: costtest.Box(t)}
}

// in returns the client in another namespace.
func (c *costClient) in(namespace string) *costClient {
	return &costClient{http: c.http, host: c.host, namespace: namespace, template: c.template}
}

func (c *costClient) create(t *testing.T, name string) {
	t.Helper()
	c.write(t, http.MethodPost, "", "", c.box(name, 0))
}

func (c *costClient) delete(t *testing.T, name string) {
	t.Helper()
	c.send(t, http.MethodDelete, "/"+name, nil, nil)
}

func (c *costClient) update(t *testing.T, name string) {
	t.Helper()
	c.writes++
	c.write(t, http.MethodPut, name, "", c.box(name, c.writes%2))
}

func (c *costClient) updateStatus(t *testing.T, name string) {
	t.Helper()
	c.writes++
	box := c.box(name, 0)
	ready := int32(c.writes % 2)
	box.Status = modelv1.ModelBoxStatus{
		ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: ready, AvailableReplicas: ready,
		Selector: "modelbox=" + name, Address: name + ".default.svc:80",
	}
	for _, condition := range []string{modelv1.ConditionReady, modelv1.ConditionProgressing, modelv1.ConditionApplied} {
		box.Status.Conditions = append(box.Status.Conditions, metav1.Condition{
			Type: condition, Status: metav1.ConditionTrue, ObservedGeneration: 1,
			Reason: condition, Message: strconv.Itoa(int(ready)) + " of 2 replicas are available", LastTransitionTime: metav1.Unix(1_700_000_000, 0),
		})
	}
	c.write(t, http.MethodPut, name, "/status", box)
}

func (c *costClient) patch(t *testing.T, name string) {
	t.Helper()
	c.writes++
	body := fmt.Appendf(nil, `{"spec":{"image":"registry.example.com/shop/web:1.5.%d"}}`, c.writes%2)
	c.send(t, http.MethodPatch, "/"+name, body, http.Header{"Content-Type": {string(types.MergePatchType)}})
}

func (c *costClient) apply(t *testing.T, name string) {
	t.Helper()
	c.writes++
	body, err := json.Marshal(c.box(name, c.writes%2))
	if err != nil {
		t.Fatal(err)
	}
	c.send(t, http.MethodPatch, "/"+name+"?fieldManager=applier&force=true", body, http.Header{"Content-Type": {string(types.ApplyYAMLPatchType)}})
}

func (c *costClient) get(t *testing.T, name, mediaType string) []byte {
	t.Helper()
	return c.send(t, http.MethodGet, "/"+name, nil, http.Header{"Accept": {mediaType}, "Accept-Encoding": {identity}})
}

func (c *costClient) list(t *testing.T, mediaType, encoding string) []byte {
	t.Helper()
	return c.send(t, http.MethodGet, "", nil, http.Header{"Accept": {mediaType}, "Accept-Encoding": {encoding}})
}

// write sends a box as protobuf.
func (c *costClient) write(t *testing.T, method, name, subresource string, box *modelv1.ModelBox) {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(apiserver.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	body, err := runtime.Encode(apiserver.Codecs.EncoderForVersion(info.Serializer, modelv1.SchemeGroupVersion), box)
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		name = "/" + name
	}
	c.send(t, method, name+subresource, body, http.Header{
		"Content-Type": {runtime.ContentTypeProtobuf}, "Accept": {runtime.ContentTypeProtobuf}, "Accept-Encoding": {identity},
	})
}

// box returns a box with one of two images.
func (c *costClient) box(name string, image int) *modelv1.ModelBox {
	box := c.template.DeepCopy()
	box.Name, box.Namespace = name, c.namespace
	box.Spec.Image += strconv.Itoa(image)
	return box
}

// watch returns the events from now on, a line each.
func (c *costClient) watch(t *testing.T) *bufio.Reader {
	t.Helper()
	list := &metav1.PartialObjectMetadataList{}
	if err := json.Unmarshal(c.list(t, runtime.ContentTypeJSON, identity), list); err != nil {
		t.Fatal(err)
	}
	response := c.do(t, http.MethodGet, "?watch=true&resourceVersion="+list.ResourceVersion, nil, http.Header{"Accept": {runtime.ContentTypeJSON}, "Accept-Encoding": {identity}})
	t.Cleanup(func() { _ = response.Body.Close() })
	return bufio.NewReaderSize(response.Body, 64<<10)
}

// send sends a request for the path below the boxes of the namespace, and returns the body of its response.
func (c *costClient) send(t *testing.T, method, path string, body []byte, header http.Header) []byte {
	t.Helper()
	response := c.do(t, method, path, body, header)
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (c *costClient) do(t *testing.T, method, path string, body []byte, header http.Header) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method,
		c.host+"/apis/model.github.com/v1/namespaces/"+c.namespace+"/modelboxes"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	response, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		answer, _ := io.ReadAll(response.Body)
		t.Fatalf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	return response
}

// etcdRequests returns how many requests for boxes the server has sent to its etcd.
func etcdRequests(t *testing.T) map[string]int {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	requests := map[string]int{}
	for _, family := range families {
		if family.GetName() != "etcd_requests_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["resource"] == "modelboxes" {
				requests[labels["operation"]+" in etcd"] = int(metric.GetCounter().GetValue())
			}
		}
	}
	return requests
}

// recordedCluster is a cluster with two namespaces, in which users are no administrators. It records the requests of a server,
// except for the requests of its informers.
type recordedCluster struct {
	mu       sync.Mutex
	requests []string
}

var requestInfos = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// ServeHTTP serves the cluster.
func (c *recordedCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, err := requestInfos.NewRequestInfo(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if info.IsResourceRequest && info.Verb != "list" && info.Verb != "watch" {
		c.mu.Lock()
		c.requests = append(c.requests, info.Verb+" "+info.Resource)
		c.mu.Unlock()
	}
	namespaces := []any{newNamespace("default"), newNamespace("many")}
	switch {
	case info.Resource == "tokenreviews":
		reviewToken(w, r)
	case info.Resource == "namespaces" && info.Verb == "watch":
		watchNothing(w, r, metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, namespaces...)
	case info.Resource == "namespaces" && info.Verb == "list":
		answer(w, http.StatusOK, map[string]any{"apiVersion": "v1", "kind": "NamespaceList", "metadata": map[string]any{"resourceVersion": "1"}, "items": namespaces})
	default:
		serveCluster(w, r)
	}
}

// take returns the requests since the last call.
func (c *recordedCluster) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests := c.requests
	c.requests = nil
	return requests
}

func newNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"}}
}

// reviewToken answers that a token is the name of its user.
func reviewToken(w http.ResponseWriter, r *http.Request) {
	review := &authenticationv1.TokenReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		refuse(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	authenticate(w, review.Spec.Token, user.AllAuthenticated)
}
