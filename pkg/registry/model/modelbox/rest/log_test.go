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

const oneLine = "2026-01-01T12:00:00.000000001Z a line\n"

// logsOf are the logs of box web for anna.
func logsOf(t *testing.T, storage *testStorage, authorizer authorizer.UnconditionalAuthorizer, cluster *testCluster, access *testAccess, name string, options *model.ModelBoxLogOptions) (io.ReadCloser, error) {
	t.Helper()
	return logsFor(t.Context(), t, storage, authorizer, cluster, access, name, options)
}

// logsFor is logsOf for a request that lasts until ctx is done.
func logsFor(ctx context.Context, t *testing.T, storage *testStorage, authorizer authorizer.UnconditionalAuthorizer, cluster *testCluster, access *testAccess, name string, options *model.ModelBoxLogOptions) (io.ReadCloser, error) {
	t.Helper()
	log := *storage.Log
	log.children, log.access, log.permissions = cluster, access, permissions{authorizer}
	ctx = genericapirequest.WithUser(genericapirequest.WithNamespace(ctx, metav1.NamespaceDefault), &user.DefaultInfo{Name: "anna"})
	streamer, err := log.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	// The handler of requests has the namespace in another context.
	ctx = genericapirequest.WithNamespace(ctx, "")
	stream, flush, mimeType, err := streamer.(rest.ResourceStreamer).InputStream(ctx, "", "")
	if err == nil && (!flush || mimeType != "text/plain") {
		t.Errorf("it is %s, flushed: %t", mimeType, flush)
	}
	return stream, err
}

func TestLog(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	away := errors.New("it is unavailable")
	both := rights{"get pods/log web-1", "get pods/log web-2"}
	for _, row := range []struct {
		name       string
		authorizer authorizer.UnconditionalAuthorizer
		box        string
		cluster    *testCluster
		access     *testAccess
		options    model.ModelBoxLogOptions
		// want is the text, or a part of the refusal, whose code is wantCode.
		want     string
		wantCode int32
	}{
		{"all pods of the box", both, "web", podsOf("web-1", "web-2"), &testAccess{}, model.ModelBoxLogOptions{},
			"[pod/web-1/web] a line\n[pod/web-2/web] a line\n", 0},
		{"a pod that is named", both, "web", podsOf("web-1", "web-2"), &testAccess{}, model.ModelBoxLogOptions{Pod: "web-2"}, "a line\n", 0},
		{"who may read one of the pods", both[:1], "web", podsOf("web-1", "web-2"), &testAccess{}, model.ModelBoxLogOptions{},
			"error: pods \"web-2\" is forbidden: User \"anna\" cannot get resource \"pods/log\" in API group \"\" in the namespace \"default\"\n[pod/web-1/web] a line\n", 0},
		{"who may read no pod", rights{}, "web", podsOf("web-1"), &testAccess{}, model.ModelBoxLogOptions{}, `cannot get resource "pods/log"`, http.StatusForbidden},
		{"who may read no pod, and follows", rights{}, "web", podsOf("web-1"), &testAccess{}, model.ModelBoxLogOptions{Follow: true}, `cannot get resource "pods/log"`, http.StatusForbidden},
		{"a server without the component", both, "web", podsOf("web-1"), &testAccess{err: apierrors.NewForbidden(corev1.Resource("pods"), "", away)}, model.ModelBoxLogOptions{}, "it is unavailable", http.StatusForbidden},
		{"a server with too many connections", both, "web", podsOf("web-1"), &testAccess{full: apierrors.NewTooManyRequests("as many as --max-pod-streams allows", 10)}, model.ModelBoxLogOptions{},
			"--max-pod-streams", http.StatusTooManyRequests},
		{"a box that is not there", both, "none", podsOf("web-1"), &testAccess{}, model.ModelBoxLogOptions{}, `"none" not found`, http.StatusNotFound},
		{"a pod of another box", both, "web", podsOf("web-1"), &testAccess{}, model.ModelBoxLogOptions{Pod: "mail-1"}, `pods "mail-1" not found`, http.StatusNotFound},
		{"a container that is not there", both, "web", podsOf("web-1"), &testAccess{}, model.ModelBoxLogOptions{Container: "none"}, "out of: injected, web", http.StatusBadRequest},
		{"a box without pods", both, "web", podsOf(), &testAccess{}, model.ModelBoxLogOptions{}, "it has no pods", http.StatusConflict},
		{"bad options", both, "web", podsOf("web-1"), &testAccess{}, model.ModelBoxLogOptions{TailLines: new(int64(-1))}, "tailLines: Invalid value: -1", http.StatusUnprocessableEntity},
		{"a cluster that does not answer", both, "web", &testCluster{err: away}, &testAccess{}, model.ModelBoxLogOptions{}, "it is unavailable", http.StatusServiceUnavailable},
		{"rights that cannot be asked for", brokenAuthorizer{}, "web", podsOf("web-1"), &testAccess{}, model.ModelBoxLogOptions{}, "it is unavailable", http.StatusServiceUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			for i := range row.cluster.pods {
				row.cluster.pods[i].UID = types.UID(row.cluster.pods[i].Name)
			}
			row.access.logs = map[string]string{"web-1": oneLine, "web-2": oneLine}
			stream, err := logsOf(t, storage, row.authorizer, row.cluster, row.access, row.box, &row.options)
			if row.wantCode == 0 {
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				got, err := io.ReadAll(stream)
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(row.want, string(got)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				return
			}
			var status apierrors.APIStatus
			if !errors.As(err, &status) || status.Status().Code != row.wantCode || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %d and %q", err, row.wantCode, row.want)
			}
			if len(row.access.asked) > 0 {
				t.Errorf("all the same it is led to %v", row.access.asked)
			}
		})
	}
}

func TestLogFollowsUntilTheBoxIsDeleted(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	stream, err := logsOf(t, storage, rights{}, podsOf(), &testAccess{}, "web", &model.ModelBoxLogOptions{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	remove(t, storage, "web", &metav1.DeleteOptions{})
	if got, err := io.ReadAll(stream); err != nil || len(got) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestLogIsAbortedWhenTheServerStops(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	access := &testAccess{stop: make(chan struct{})}
	stream, err := logsOf(t, storage, rights{}, podsOf(), access, "web", &model.ModelBoxLogOptions{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	close(access.stop)
	defer func() {
		if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // what the server of HTTP looks for
			t.Errorf("the handler ends with %v", got)
		}
	}()
	_, err = io.ReadAll(stream)
	t.Errorf("the stream ends with %v", err)
}

// TestLogOptions decodes the query of a request.
func TestLogOptions(t *testing.T) {
	t.Parallel()
	codec := runtime.NewParameterCodec(newBackend(t).Scheme)
	query, err := url.ParseQuery("pod=web-1&container=main&allContainers=true&follow=true&previous=1&sinceSeconds=60&sinceTime=2026-01-01T12:00:00Z&timestamps=true&tailLines=0&limitBytes=10&prefix=false&maxLogRequests=5")
	if err != nil {
		t.Fatal(err)
	}
	got := &model.ModelBoxLogOptions{}
	if err := codec.DecodeParameters(query, modelv1.SchemeGroupVersion, got); err != nil {
		t.Fatal(err)
	}
	since := metav1.Date(2026, 1, 1, 12, 0, 0, 0, got.SinceTime.Location())
	want := &model.ModelBoxLogOptions{
		Pod: "web-1", Container: "main", AllContainers: true, Follow: true, Previous: true, SinceSeconds: new(int64(60)), SinceTime: &since,
		Timestamps: true, TailLines: new(int64(0)), LimitBytes: new(int64(10)), Prefix: new(false), MaxLogRequests: new(int64(5)),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A user who has nothing but the right to read the log of a box follows it again and again while it has no pods.
func TestFollowsOfABoxWithoutPodsAreLimited(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	const limit = 3
	access := &testAccess{maxStreams: limit}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	follow := func(ctx context.Context) (io.ReadCloser, error) {
		return logsFor(ctx, t, storage, rights{}, podsOf(), access, "web", &model.ModelBoxLogOptions{Follow: true})
	}
	for i := range limit + 5 {
		stream, err := follow(ctx)
		if err == nil {
			defer stream.Close()
		}
		if isLimited := i >= limit; apierrors.IsTooManyRequests(err) != isLimited || !isLimited && err != nil {
			t.Errorf("follow %d: got %v, want 429: %t", i+1, err, isLimited)
		}
	}
	cancel()
	eventually(t, "the streams end with their requests", func() error {
		stream, err := follow(t.Context())
		if err == nil {
			stream.Close()
		}
		return err
	})
}
