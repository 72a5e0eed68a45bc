// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// cluster serves what the logs of a box are made of. Each log is a line that says what is asked for.
type cluster struct {
	// refusal is the answer of the subresource of the box.
	refusal *apierrors.StatusError
	pods    []corev1.Pod
	// broken is the name of a pod whose node does not answer.
	broken string
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(code int, object any) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(object)
	}
	pod, isLog := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/default/pods/"), "/log")
	switch {
	case strings.HasPrefix(r.URL.Path, "/apis/model.github.com/"):
		status := c.refusal.Status()
		status.APIVersion, status.Kind = "v1", "Status"
		answer(int(status.Code), status)
	case !isLog && r.URL.Query().Get("labelSelector") == "modelbox=web":
		answer(http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: c.pods})
	case isLog && pod == c.broken:
		http.Error(w, "the node is unavailable", http.StatusBadGateway)
	case isLog:
		_, _ = io.WriteString(w, pod+"?"+r.URL.Query().Encode()+"\n")
	default:
		http.NotFound(w, r)
	}
}

// getter knows a cluster, and nothing else.
type getter struct {
	genericclioptions.RESTClientGetter
	config *rest.Config
}

func (g getter) ToRESTConfig() (*rest.Config, error) { return g.config, nil }

// newPod returns a pod that was created in that minute.
func newPod(name string, minute int, containers ...string) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: metav1.NamespaceDefault, CreationTimestamp: metav1.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC),
	}}
	for _, container := range containers {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: container})
	}
	pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
	return pod
}

func TestPrintAsUser(t *testing.T) {
	t.Parallel()
	forbidden := func(cause metav1.CauseType) *apierrors.StatusError {
		refusal := apierrors.NewForbidden(corev1.Resource("pods/log"), "", errors.New("it may not"))
		refusal.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: cause}}
		return refusal
	}
	missing := forbidden(modelv1.PodAccessMissingCause)
	restarted := newPod("web-b", 1, "injected", "web")
	restarted.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "web", LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}},
	}}
	both := []corev1.Pod{newPod("web-a", 2, "injected", "web", "late"), restarted}
	const said = "warning: the server does not have the component pod-access: reading logs with the permissions of the user\n"
	const saidOfFollowing = "warning: the server does not have the component pod-access: reading logs with the permissions of the user, " +
		"and new pods are not followed\n"
	for _, row := range []struct {
		name    string
		cluster cluster
		query   modelv1.ModelBoxLogOptions
		want    string
		wantErr string
		// wantSaid is what is on the standard error.
		wantSaid string
	}{
		{
			name: "the main containers of all pods, the oldest first", cluster: cluster{refusal: missing, pods: both}, wantSaid: said,
			want: "[pod/web-b/web] web-b?container=web\n[pod/web-a/web] web-a?container=web\n",
		},
		{
			name: "one pod", cluster: cluster{refusal: missing, pods: both}, wantSaid: said,
			query: modelv1.ModelBoxLogOptions{Pod: "web-a"}, want: "web-a?container=web\n",
		},
		{
			name: "all containers of one pod", cluster: cluster{refusal: missing, pods: both}, wantSaid: said,
			query: modelv1.ModelBoxLogOptions{Pod: "web-b", AllContainers: true},
			want:  "[pod/web-b/injected] web-b?container=injected\n[pod/web-b/web] web-b?container=web\n[pod/web-b/init] web-b?container=init\n",
		},
		{
			name: "a container that one of the pods has", cluster: cluster{refusal: missing, pods: both}, wantSaid: said,
			query: modelv1.ModelBoxLogOptions{Container: "late"}, want: "[pod/web-a/late] web-a?container=late\n",
		},
		{
			name: "those that were started again", cluster: cluster{refusal: missing, pods: both}, wantSaid: said,
			query: modelv1.ModelBoxLogOptions{Previous: true}, want: "[pod/web-b/web] web-b?container=web&previous=true\n",
		},
		{
			name: "all options of pods", cluster: cluster{refusal: missing, pods: both}, wantSaid: said,
			query: modelv1.ModelBoxLogOptions{
				Pod: "web-a", Timestamps: true, SinceSeconds: new(int64(60)), TailLines: new(int64(20)), LimitBytes: new(int64(1000)), Prefix: new(true),
			},
			want: "[pod/web-a/web] web-a?container=web&limitBytes=1000&sinceSeconds=60&tailLines=20&timestamps=true\n",
		},
		{
			name: "what is followed ends with the pods", cluster: cluster{refusal: missing, pods: both[:1]},
			query:    modelv1.ModelBoxLogOptions{Follow: true},
			want:     "[pod/web-a/web] web-a?container=web&follow=true\n",
			wantSaid: saidOfFollowing,
		},
		{
			name: "more than may be followed", cluster: cluster{refusal: missing, pods: both},
			query:    modelv1.ModelBoxLogOptions{Follow: true, MaxLogRequests: new(int64(1))},
			wantErr:  "cannot follow 2 logs of web, the maximum is 1: select a pod with --pod, or use --max-log-requests to increase the limit",
			wantSaid: saidOfFollowing,
		},
		{
			name: "a pod that cannot be read", cluster: cluster{refusal: missing, pods: both, broken: "web-b"}, wantSaid: said,
			want: "[pod/web-a/web] web-a?container=web\n", wantErr: "container web of pod web-b: ",
		},
		{
			name: "no pod", cluster: cluster{refusal: missing}, wantSaid: said, wantErr: "web has no pods",
		},
		{
			name: "a pod of another box", cluster: cluster{refusal: missing, pods: both}, wantSaid: said,
			query: modelv1.ModelBoxLogOptions{Pod: "mail-a"}, wantErr: `pods "mail-a" not found`,
		},
		{
			name: "a container that is not there", cluster: cluster{refusal: missing, pods: both}, wantSaid: said,
			query: modelv1.ModelBoxLogOptions{Container: "none"}, wantErr: "is not valid for pod web-b out of: injected, web, init",
		},
		{
			name: "none that was started again", cluster: cluster{refusal: missing, pods: both[:1]}, wantSaid: said,
			query: modelv1.ModelBoxLogOptions{Previous: true}, wantErr: "--previous: no selected container of web has a previous instance",
		},
		{name: "what is refused for another reason", cluster: cluster{refusal: forbidden("Another"), pods: both}, wantErr: "it may not"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(&row.cluster)
			defer server.Close()
			config := &rest.Config{Host: server.URL}
			client, err := versioned.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			streams, _, out, said := genericiooptions.NewTestIOStreams()
			o := &Options{IOStreams: streams, Query: row.query, getter: getter{config: config}, client: client}
			box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault}}
			err = o.print(t.Context(), source{box: box}, &lineWriter{out: out})
			if row.wantErr == "" && err != nil || row.wantErr != "" && (err == nil || !strings.Contains(err.Error(), row.wantErr)) {
				t.Errorf("it ends with %v, want %q", err, row.wantErr)
			}
			if diff := cmp.Diff(row.want, out.String()); diff != "" {
				t.Errorf("logs: -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(row.wantSaid, said.String()); diff != "" {
				t.Errorf("standard error: -want +got:\n%s", diff)
			}
		})
	}
}
