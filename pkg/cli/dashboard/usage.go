// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/top"
)

// newUsage returns a handler that measures what the pods of the box in the path use, as "kubectl modelbox top" does.
func newUsage(config *rest.Config, namespace string) (http.Handler, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	measured, err := metrics.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		measurement, err := top.Measure(r.Context(), client, measured, namespace, r.PathValue("name"))
		if err != nil {
			writeStatus(w, statusOf(err))
			return
		}
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		_ = json.NewEncoder(w).Encode(measurement)
	}), nil
}
