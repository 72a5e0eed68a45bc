// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// testAccess is an access that leads nowhere, and says where it was asked to.
type testAccess struct {
	err error
	// refused are the pods that get no ephemeral container.
	refused map[string]error

	mu    sync.Mutex
	asked []string
	// maxStreams is how many streams it admits at a time, 0 for no limit, and streams is how many there are.
	maxStreams, streams int
	// full is the response to one connection too many, and logs are the logs of pods.
	full error
	logs map[string]string
	// stop is closed when the server stops.
	stop chan struct{}
}

func (a *testAccess) CheckAllowed(context.Context, string, string, string) error { return a.err }

func (a *testAccess) Connect(pod types.NamespacedName, subresource string, query url.Values, _ rest.Responder) http.Handler {
	a.asked = append(a.asked, pod.String()+"/"+subresource+"?"+query.Encode())
	return http.NotFoundHandler()
}

func (a *testAccess) AdmitStream(ctx context.Context, _ string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.full != nil {
		return a.full
	}
	if a.maxStreams > 0 && a.streams == a.maxStreams {
		return apierrors.NewTooManyRequests("as many as there may be", 1)
	}
	a.streams++
	context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.streams--
	})
	return nil
}

func (a *testAccess) AdmitLogs(ctx context.Context, namespace string) (func(context.Context, types.NamespacedName, *corev1.PodLogOptions) (io.ReadCloser, error), error) {
	return a.openLog, a.AdmitStream(ctx, namespace)
}

func (a *testAccess) CheckRoom(context.Context, string, int) error { return a.full }

func (a *testAccess) openLog(_ context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	query, err := podQuery(options)
	if err != nil {
		return nil, err
	}
	a.asked = append(a.asked, pod.String()+"/log?"+query.Encode())
	return io.NopCloser(strings.NewReader(a.logs[pod.Name])), nil
}

func (a *testAccess) UntilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-a.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// rights are those that a user has, such as "create pods/exec web-1".
type rights []string

func (r rights) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	asked := a.GetVerb() + " " + a.GetResource() + "/" + a.GetSubresource() + " " + a.GetName()
	for _, right := range r {
		if right == asked && a.GetNamespace() == metav1.NamespaceDefault {
			return authorizer.DecisionAllow, "", nil
		}
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// brokenAuthorizer cannot ask the cluster.
type brokenAuthorizer struct{}

func (brokenAuthorizer) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "", errors.New("it is unavailable")
}

func podsOf(names ...string) *testCluster {
	cluster := &testCluster{}
	for _, name := range names {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault}}
		pod.Spec.Containers = []corev1.Container{{Name: "injected"}, {Name: "web"}}
		cluster.pods = append(cluster.pods, pod)
	}
	return cluster
}

func TestConnect(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	away := errors.New("it is unavailable")
	both := rights{"create modelboxes/exec web", "create pods/exec web-1"}
	options := &model.ModelBoxExecOptions{Command: []string{"ls", "-l"}, Stdout: true}
	for _, row := range []struct {
		name       string
		authorizer authorizer.UnconditionalAuthorizer
		verb, box  string
		cluster    *testCluster
		access     error
		options    runtime.Object
		// want is what the access is asked for, or the code and a part of the refusal.
		want     string
		wantCode int32
	}{
		{"a pod of the box, and its main container", both, "create", "web", podsOf("web-2", "web-1"), nil, options,
			"default/web-1/exec?command=ls&command=-l&container=web&stdout=true", 0},
		{"the pod and the container that are named, without stderr for a terminal",
			append(rights{"create pods/exec web-2"}, both...), "create", "web", podsOf("web-1", "web-2"), nil,
			&model.ModelBoxExecOptions{Pod: "web-2", Container: "injected", Command: []string{"sh"}, Stdin: true, Stdout: true, Stderr: true, TTY: true},
			"default/web-2/exec?command=sh&container=injected&stdin=true&stdout=true&tty=true", 0},
		{"a WebSocket of who may read and create", append(rights{"get modelboxes/exec web", "get pods/exec web-1"}, both...), "get", "web", podsOf("web-1"), nil, options,
			"default/web-1/exec?command=ls&command=-l&container=web&stdout=true", 0},
		{"a WebSocket of who may only read boxes", rights{"get modelboxes/exec web", "get pods/exec web-1", "create pods/exec web-1"}, "get", "web", podsOf("web-1"), nil, options,
			`cannot create resource "modelboxes/exec" in API group "model.github.com"`, http.StatusForbidden},
		{"a WebSocket of who may only read pods", rights{"get modelboxes/exec web", "create modelboxes/exec web", "get pods/exec web-1"}, "get", "web", podsOf("web-1"), nil, options,
			`cannot create resource "pods/exec" in API group ""`, http.StatusForbidden},
		{"who has no right on the pod", both[:1], "create", "web", podsOf("web-1"), nil, options,
			`pods "web-1" is forbidden: User "anna" cannot create resource "pods/exec" in API group "" in the namespace "default"`, http.StatusForbidden},
		{"who has the right on another pod", both, "create", "web", podsOf("web-2"), nil, options,
			`pods "web-2" is forbidden`, http.StatusForbidden},
		{"a server without the component", both, "create", "web", podsOf("web-1"), apierrors.NewForbidden(corev1.Resource("pods"), "", away), options,
			"it is unavailable", http.StatusForbidden},
		{"a box that is not there", rights{"create modelboxes/exec none"}, "create", "none", podsOf("web-1"), nil, options,
			`modelboxes "none" not found`, http.StatusNotFound},
		{"a pod of another box", both, "create", "web", podsOf("web-1"), nil, &model.ModelBoxExecOptions{Pod: "mail-1", Command: []string{"ls"}, Stdout: true},
			`pods "mail-1" not found`, http.StatusNotFound},
		{"a container that is not there", both, "create", "web", podsOf("web-1"), nil, &model.ModelBoxExecOptions{Container: "none", Command: []string{"ls"}, Stdout: true},
			"out of: injected, web", http.StatusBadRequest},
		{"a box without pods", both, "create", "web", podsOf(), nil, options, "it has no pods", http.StatusConflict},
		{"no command", both, "create", "web", podsOf("web-1"), nil, &model.ModelBoxExecOptions{Stdout: true}, "command", http.StatusBadRequest},
		{"no stream", both, "create", "web", podsOf("web-1"), nil, &model.ModelBoxExecOptions{Command: []string{"ls"}}, "at least one of stdin, stdout, stderr", http.StatusBadRequest},
		{"a cluster that does not answer", both, "create", "web", &testCluster{err: away}, nil, options, "it is unavailable", http.StatusServiceUnavailable},
		{"rights that cannot be asked for", brokenAuthorizer{}, "create", "web", podsOf("web-1"), nil, options, "it is unavailable", http.StatusServiceUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			access := &testAccess{err: row.access}
			exec := *storage.Exec
			exec.children, exec.access, exec.permissions = row.cluster, access, permissions{row.authorizer}
			ctx := genericapirequest.WithUser(inDefault(t), &user.DefaultInfo{Name: "anna"})
			ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{Verb: row.verb, Resource: "modelboxes", Subresource: "exec", Name: row.box})
			_, err := exec.Connect(ctx, row.box, row.options, nil)
			if row.wantCode == 0 {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{row.want}, access.asked); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if access.streams != 1 {
					t.Errorf("it counts as %d streams", access.streams)
				}
				return
			}
			var status apierrors.APIStatus
			if !errors.As(err, &status) || status.Status().Code != row.wantCode || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %d and %q", err, row.wantCode, row.want)
			}
			if len(access.asked) > 0 {
				t.Errorf("all the same it is led to %v", access.asked)
			}
		})
	}
}

// TestConnectOptions decodes the query of a request, and looks what becomes of it.
func TestConnectOptions(t *testing.T) {
	t.Parallel()
	scheme := newBackend(t).Scheme
	codec := runtime.NewParameterCodec(scheme)
	for _, row := range []struct {
		name, query string
		newOptions  func() runtime.Object
		parse       func(runtime.Object) (connection, error)
		want        connection
		wantQuery   string
		wantErr     string
	}{
		{"exec", "pod=web-1&container=main&stdin=true&stdout=1&stderr=true&command=sh&command=-c&command=a+b", newExecOptions, parseExec,
			connection{pod: "web-1", container: "main", toContainer: true}, "command=sh&command=-c&command=a+b&container=c&stderr=true&stdin=true&stdout=true", ""},
		{"attach", "stdout=true&stderr=true&tty=true&container=main", newAttachOptions, parseAttach,
			connection{container: "main", toContainer: true}, "container=c&stdout=true&tty=true", ""},
		{"portforward", "pod=web-1&ports=80&ports=443", newPortForwardOptions, parsePortForward, connection{pod: "web-1"}, "ports=80&ports=443", ""},
		{"portforward without ports, as SPDY has it", "", newPortForwardOptions, parsePortForward, connection{}, "", ""},
		{"exec without a command", "stdout=true", newExecOptions, parseExec, connection{}, "", "you must specify the command"},
		{"attach without a stream", "", newAttachOptions, parseAttach, connection{}, "", "at least one of stdin"},
		{"a port that is none", "ports=0", newPortForwardOptions, parsePortForward, connection{}, "", "ports: 0: must be between 1 and 65535"},
	} {
		t.Run(row.name, func(t *testing.T) {
			query, err := url.ParseQuery(row.query)
			if err != nil {
				t.Fatal(err)
			}
			options := row.newOptions()
			if err := codec.DecodeParameters(query, modelv1.SchemeGroupVersion, options); err != nil {
				t.Fatal(err)
			}
			got, err := row.parse(options)
			if row.wantErr != "" {
				if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), row.wantErr) {
					t.Errorf("got %v, want %q", err, row.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			gotQuery, err := podQuery(got.podOptions("c"))
			if err != nil {
				t.Fatal(err)
			}
			if gotQuery.Encode() != row.wantQuery {
				t.Errorf("the pod is asked for %s, want %s", gotQuery.Encode(), row.wantQuery)
			}
			got.podOptions = nil
			if got.pod != row.want.pod || got.container != row.want.container || got.toContainer != row.want.toContainer {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}
