// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package bodylimit

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const maxBytes = 1 << 20

// newLimiter returns a limiter of a handler that returns the body of the request.
func newLimiter(t *testing.T, handler http.HandlerFunc) *limiter {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	if err := autoscalingv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if handler == nil {
		handler = func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }
	}
	return WithLimit(handler, scheme, serializer.NewCodecFactory(scheme), maxBytes).(*limiter)
}

// newRequest returns a request about a resource of the group.
func newRequest(t *testing.T, verb, resource, contentType, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	resource, subresource, _ := strings.Cut(resource, "/")
	return r.WithContext(apirequest.WithRequestInfo(t.Context(), &apirequest.RequestInfo{
		IsResourceRequest: true, Verb: verb, APIGroup: modelv1.GroupName, APIVersion: "v1", Resource: resource, Subresource: subresource,
	}))
}

// serve returns the status, and what is said with it.
func serve(handler http.Handler, r *http.Request) (int, string) {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	status := &metav1.Status{}
	if w.Code == http.StatusOK || json.Unmarshal(w.Body.Bytes(), status) != nil {
		return w.Code, w.Body.String()
	}
	return w.Code, status.Message
}

// list returns a list that has the element so many times.
func list(element string, times int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+",", times), ",") + "]"
}

// inProtobuf returns an object of the kind as the body of a request.
func inProtobuf(t *testing.T, kind string, object interface{ Marshal() ([]byte, error) }) string {
	t.Helper()
	raw, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: modelv1.SchemeGroupVersion.String(), Kind: kind}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(protobufPrefix) + string(envelope)
}

func TestLimitRefusesBodiesThatTakeTooMuchMemory(t *testing.T) {
	t.Parallel()
	const (
		tooMany  = "Request entity too large: spec.containers: Too many: must have at most 16384 items"
		tooLarge = "Request entity too large: spec.containers.args: Too large: the decoded object must take at most 128 MiB of memory"
		ofApply  = "Request entity too large: spec.containers.args: Too large: the decoded object must take at most 85 MiB of memory"
		root     = "Request entity too large: object: Too many: must have at most 16384 items"
	)
	many := `{"spec": {"containers": ` + list("{}", 20000) + `}}`
	const stack = `{"kind": "ModelStack", "apiVersion": "model.github.com/v1", "spec": {"components": [{"box": {"spec": {"containers": []}}}]}}`
	lists := `{"spec": {"containers": ` + list(`{"args": `+list("0", 15000)+`}`, 30) + `}}`
	bomb := inProtobuf(t, "ModelBox", &modelv1.ModelBox{Spec: modelv1.ModelBoxSpec{Args: make([]string, 20000)}})
	bombOfStack := inProtobuf(t, "ModelStack", &modelv1.ModelStack{Spec: modelv1.ModelStackSpec{Components: make([]modelv1.ModelStackComponent, 20000)}})
	alias := "spec: {image: &a " + strings.Repeat("x", 10<<10) + ", args: " + list("*a", 2000) + "}"
	for _, row := range []struct {
		name, verb, resource, contentType, body string
		code                                    int
		want                                    string
	}{
		{"JSON", "create", "modelboxes", "application/json", many, 413, tooMany},
		{"JSON with parameters", "create", "modelboxes", "application/json; charset=utf-8", many, 413, tooMany},
		{"JSON that does not say so", "create", "modelboxes", "", many, 413, tooMany},
		{"JSON of an update", "update", "modelboxes", "application/json", many, 413, tooMany},
		{"JSON of a subresource", "create", "modelboxes/render", "application/json", many, 413, tooMany},
		{"JSON of another kind", "create", "modelboxes", "application/json", strings.Replace(stack, "[{", list("{}", 20000)+`, "other": [{`, 1), 413, "Request entity too large: spec.components: Too many: must have at most 16384 items"},
		{"JSON of many lists", "create", "modelboxes", "application/json", lists, 413, tooLarge},
		{"JSON of a deletion", "delete", "modelboxes", "application/json", `{"dryRun": ` + list(`""`, 20000) + `}`, 413, "Request entity too large: dryRun: Too many: must have at most 16384 items"},
		{"protobuf", "create", "modelboxes", "application/vnd.kubernetes.protobuf", bomb, 413, "Request entity too large: spec.args: Too many: must have at most 16384 items"},
		{"protobuf of another kind", "create", "modelboxes", "application/vnd.kubernetes.protobuf", bombOfStack, 413, "Request entity too large: spec.components: Too many: must have at most 16384 items"},
		{"protobuf without its envelope", "create", "modelboxes", "application/vnd.kubernetes.protobuf", bomb[4:], 400, errMalformedEnvelope.Error()},
		{"YAML", "create", "modelboxes", "application/yaml", "spec: {containers: " + list("{}", 20000) + "}", 413, tooMany},
		{"YAML with aliases", "create", "modelboxes", "application/yaml", alias, 413, "Request entity too large: YAML must have at most 1048576 bytes once its aliases are replaced by their values"},
		{"a merge patch", "patch", "modelboxes", "application/merge-patch+json", many, 413, tooMany},
		{"a strategic merge patch", "patch", "modelboxes", "application/strategic-merge-patch+json", many, 413, tooMany},
		{"a patch of the status", "patch", "modelboxes/status", "application/merge-patch+json", many, 413, tooMany},
		{"a patch of the scale", "patch", "modelboxes/scale", "application/merge-patch+json", many, 413, "Request entity too large: spec: Too many: must have at most 16384 items"},
		{"a patch of a stack", "patch", "modelstacks", "application/merge-patch+json", `{"spec": {"components": ` + list("{}", 20000) + `}}`, 413, "Request entity too large: spec.components: Too many: must have at most 16384 items"},
		{"a patch of a network", "patch", "networks", "application/merge-patch+json", `{"spec": {"routes": ` + list("{}", 20000) + `}}`, 413, "Request entity too large: spec.routes: Too many: must have at most 16384 items"},
		{"a patch of a PodDebugger", "patch", "poddebuggers", "application/merge-patch+json", `{"spec": {"args": ` + list("{}", 20000) + `}}`, 413, "Request entity too large: spec.args: Too many: must have at most 16384 items"},
		{"a JSON patch", "patch", "modelboxes", "application/json-patch+json", `[{"op": "add", "path": "/spec/containers", "value": ` + list("{}", 20000) + `}]`, 413, root},
		{"server-side apply", "patch", "modelboxes", "application/apply-patch+yaml", many, 413, tooMany},
		{"server-side apply of many lists", "patch", "modelboxes", "application/apply-patch+yaml", lists, 413, ofApply},
		{"server-side apply with aliases", "patch", "modelboxes", "application/apply-patch+yaml", alias, 413, "Request entity too large: YAML must have at most 1048576 bytes once its aliases are replaced by their values"},
		{"CBOR", "create", "modelboxes", "application/cbor", strings.Repeat("\xa0", 200<<10), 413, "Request entity too large: object: Too large: the decoded object must take at most 128 MiB of memory"},
		{"more bytes than there may be", "create", "modelboxes", "application/json", strings.Repeat(" ", maxBytes+1), 413, "Request entity too large: limit is 1048576"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			code, message := serve(newLimiter(t, nil), newRequest(t, row.verb, row.resource, row.contentType, row.body))
			if code != row.code || message != row.want {
				t.Errorf("got %d %.300s, want %d %s", code, message, row.code, row.want)
			}
		})
	}
}

func TestLimitLeavesOtherRequestsAlone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, verb, contentType, body string }{
		{"an ordinary box", "create", "application/json", `{"kind": "ModelBox", "spec": {"image": "nginx:1.29"}}`},
		{"an ordinary patch", "patch", "application/json-patch+json", `[{"op": "replace", "path": "/spec/replicas", "value": 3}]`},
		{"a large text", "create", "application/json", `{"spec": {"args": ["` + strings.Repeat("x", 900<<10) + `"]}}`},
		{"no JSON", "create", "application/json", `{"spec": [`},
		{"no body", "create", "application/json", ""},
		{"another content type", "create", "text/plain", list("{}", 20000)},
		{"a read", "get", "application/json", list("{}", 20000)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if code, body := serve(newLimiter(t, nil), newRequest(t, row.verb, "modelboxes", row.contentType, row.body)); code != http.StatusOK || body != row.body {
				t.Errorf("got %d %.300s", code, body)
			}
		})
	}
}

func TestLimitHoldsForAllRequestsTogether(t *testing.T) {
	t.Parallel()
	box := func(args int) string {
		return `{"spec": {"args": ` + list(`"`+strings.Repeat("x", 100)+`"`, args) + `}}`
	}
	small, large := box(100), box(5000)
	for _, row := range []struct {
		name string
		// busy takes memory as requests do that are being served.
		busy func(*limiter) bool
		body string
		want int
	}{
		{"a large body while nothing else is decoded", func(*limiter) bool { return true }, large, http.StatusOK},
		{"a large body while others are decoded", func(l *limiter) bool { return l.decoded.TryAcquire(MaxDecodedBytes) }, large, http.StatusTooManyRequests},
		{"a large body while others are read", func(l *limiter) bool { return l.encoded.TryAcquire(maxEncodedBytes) }, large, http.StatusTooManyRequests},
		{"a small body while others are decoded and read", func(l *limiter) bool {
			return l.decoded.TryAcquire(MaxDecodedBytes) && l.encoded.TryAcquire(maxEncodedBytes)
		}, small, http.StatusOK},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLimiter(t, nil)
			if row.want == http.StatusTooManyRequests {
				l.maxWait = 0
			}
			if !row.busy(l) {
				t.Fatal("there is no memory")
			}
			if code, message := serve(l, newRequest(t, "create", "modelboxes", "application/json", row.body)); code != row.want {
				t.Errorf("got %d %.300s, want %d", code, message, row.want)
			}
		})
	}
}

func TestLimitReturnsTheMemoryOfARequest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, body string
		handler    http.HandlerFunc
	}{
		{"that was served", `{"spec": {"args": ` + list(`"x"`, 15000) + `}}`, nil},
		{"that was refused", strings.Repeat(" ", maxBytes+1), nil},
		{"that panicked", `{"spec": {"args": ` + list(`"x"`, 15000) + `}}`, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLimiter(t, row.handler)
			func() {
				defer func() { _ = recover() }()
				serve(l, newRequest(t, "create", "modelboxes", "application/json", row.body))
			}()
			if !l.decoded.TryAcquire(MaxDecodedBytes) || !l.encoded.TryAcquire(maxEncodedBytes) {
				t.Error("it keeps memory")
			}
		})
	}
}

func TestLimitLetsARequestWaitForOthers(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, nil)
	if !l.decoded.TryAcquire(MaxDecodedBytes) {
		t.Fatal("there is no memory")
	}
	code := make(chan int)
	r := newRequest(t, "create", "modelboxes", "application/json", `{"spec": {"args": `+list(`"x"`, 15000)+`}}`)
	go func() {
		got, _ := serve(l, r)
		code <- got
	}()
	l.decoded.Release(MaxDecodedBytes)
	if got := <-code; got != http.StatusOK {
		t.Errorf("got %d", got)
	}
}

// The largest object that is accepted is a stack of 512 KiB. It takes the most memory if it has nothing but elements of a few
// bytes, each in a list of as many as there may be.
func TestLimitLetsEveryObjectPassThatIsAccepted(t *testing.T) {
	t.Parallel()
	const specBytes, components = 512 << 10, 500
	for _, row := range []struct {
		name, box, element string
		// size is the size of a stored element, and maximum is the maximum number of elements in the list of a box.
		size, maximum int
	}{
		{"arguments", `{"args": %}`, `""`, 2, 1024},
		{"variables", `{"envs": %}`, `{"name": "A1"}`, 6, 1024},
		{"ports", `{"ports": %}`, `{"port": 80}`, 4, 256},
		{"volumes", `{"volumes": %}`, `{"name": "a", "emptyDir": {}}`, 9, 256},
		{"projected volumes", `{"volumes": [{"projected": {"sources": %}}]}`, `{"downwardAPI": {}}`, 4, 256},
		{"terms", `{"podTemplate": {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": %}}}}}}`, `{}`, 2, 256},
		{"a large text", `{"args": ["` + strings.Repeat("x", specBytes/components) + `"]}`, "", specBytes, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			elements := min(row.maximum, specBytes/components/row.size)
			component := `{"name": "a", "box": ` + strings.Replace(row.box, "%", list(row.element, elements), 1) + `}`
			body := `{"kind": "ModelStack", "apiVersion": "model.github.com/v1", "spec": {"components": ` + list(component, components) + `}}`
			l := newLimiter(t, nil)
			l.maxBytes = 3 << 20
			if code, message := serve(l, newRequest(t, "create", "modelstacks", "application/json", body)); code != http.StatusOK {
				t.Errorf("got %d %.300s", code, message)
			}
		})
	}
}
