// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/proxy"
)

// keepalive is how often a watch tells that it is there, for the proxies on the way.
const keepalive = 30 * time.Second

// settings are what the page has to know.
type settings struct {
	Namespace string `json:"namespace"`
	// Server is the URL of the cluster.
	Server string `json:"server"`
}

// newHandler returns what serves the page, what it has to know, the logs and the usage of boxes, and the API.
func newHandler(namespace, server string, api, logs, usage http.Handler, files fs.FS) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(files))
	mux.HandleFunc("GET /settings.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		_ = json.NewEncoder(w).Encode(settings{Namespace: namespace, Server: server})
	})
	mux.Handle("GET /logs/{name}", logs)
	mux.Handle("GET /usage/{name}", usage)
	mux.Handle("/api/", api)
	mux.Handle("/apis/", api)
	return mux
}

// requests are those that the page sends to the API, in the form of http.ServeMux, with NAMESPACE for the namespace.
var requests = []string{
	"GET /api/v1/namespaces/NAMESPACE/events",
	"GET /api/v1/namespaces/NAMESPACE/pods",
	"GET /apis/apps/v1/namespaces/NAMESPACE/daemonsets",
	"GET /apis/batch/v1/namespaces/NAMESPACE/jobs",
	"GET /apis/batch/v1/namespaces/NAMESPACE/cronjobs",
	"GET /apis/apps/v1/namespaces/NAMESPACE/deployments",
	"GET /apis/apps/v1/namespaces/NAMESPACE/replicasets",
	"GET /apis/apps/v1/namespaces/NAMESPACE/statefulsets",
	"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	"GET /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes",
	"GET /apis/model.github.com/v1/namespaces/NAMESPACE/modelstacks",
	"GET /apis/model.github.com/v1/namespaces/NAMESPACE/networks",
	"PATCH /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes/{name}",
	"PATCH /apis/model.github.com/v1/namespaces/NAMESPACE/modelstacks/{name}",
	"GET /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes/{name}/diff",
	"GET /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes/{name}/history",
	"GET /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes/{name}/render",
	"POST /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes/{name}/abort",
	"POST /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes/{name}/promote",
	"POST /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes/{name}/restart",
	"POST /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes/{name}/retry",
	"POST /apis/model.github.com/v1/namespaces/NAMESPACE/modelboxes/{name}/rollback",
	"POST /apis/model.github.com/v1/namespaces/NAMESPACE/modelstacks/{name}/restart",
}

// newAPI returns the proxy to a cluster, with the credentials of the configuration. It accepts only the requests of the page,
// because a response that another program in the cluster can choose, such as a pod, would be a page of the same origin.
func newAPI(config *rest.Config, namespace string) (http.Handler, error) {
	// A server behind a gateway has a path.
	handler, err := proxy.NewProxyHandler("/api", nil, config, keepalive, true)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for _, pattern := range requests {
		mux.Handle(strings.Replace(pattern, "NAMESPACE", namespace, 1), forward(handler))
	}
	mux.HandleFunc("/", refuse)
	return mux, nil
}

// forward sends a request on with nothing in it that takes the place of the credentials of the user.
func forward(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Names of objects have no characters that a path encodes. The proxy would decode "%2F" into the end of a name.
		if r.URL.RawPath != "" {
			refuse(w, r)
			return
		}
		for name := range r.Header {
			switch {
			case name == "Authorization", name == "Cookie", name == "Referer", strings.HasPrefix(name, "Sec-Fetch-"),
				strings.HasPrefix(name, "Impersonate-"):
				delete(r.Header, name)
			}
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, r *http.Request) {
	writeStatus(w, metav1.Status{
		Status:  metav1.StatusFailure,
		Reason:  metav1.StatusReasonForbidden,
		Code:    http.StatusForbidden,
		Message: fmt.Sprintf("the dashboard does not send %s %s on", r.Method, r.URL.Path),
	})
}

// writeStatus responds with the status of a failure.
func writeStatus(w http.ResponseWriter, status metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}
