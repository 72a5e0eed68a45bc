// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// PrometheusPath is the prefix of the paths of Prometheus.
	PrometheusPath = "/prometheus"

	// CheckQuery is the query that Prometheus answers. Its value is 1 if a ready pod of the new revision has errors, 0 if none has, and
	// there is no value if no pod of it is ready.
	CheckQuery = `errors{canary="` + modelv1.CheckQueryCanary + `",stable="` + modelv1.CheckQueryStable + `"}`

	// ErringImage is the prefix of images whose pods are ready, and have errors.
	ErringImage = "erring"
)

// Prometheus measures the errors of ready pods.
type Prometheus struct {
	Store *store.Store

	// measurements has the number of measurements without errors of each box.
	measurements map[string]int
}

// Reset forgets all measurements.
func (p *Prometheus) Reset() { p.measurements = map[string]int{} }

// MeasurementsWithoutErrors returns how many queries about the pods of the box were answered without errors.
func (p *Prometheus) MeasurementsWithoutErrors(box string) int { return p.measurements[box] }

var hashPattern = regexp.MustCompile(`canary="([^"]+)",namespace="([^"]+)",stable="([^"]+)"`)

// ServeHTTP implements http.Handler.
func (p *Prometheus) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	hashes := hashPattern.FindStringSubmatch(req.PostFormValue("query"))
	if hashes == nil {
		http.Error(w, "not the query of a check", http.StatusBadRequest)
		return
	}
	type series struct {
		Metric map[string]string `json:"metric"`
		Value  [2]any            `json:"value"`
	}
	result := []series{}
	if value := p.errors(hashes[2], hashes[1], hashes[3]); value != "" {
		result = append(result, series{map[string]string{}, [2]any{0, value}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "vector", "result": result}})
}

// errors returns the value of CheckQuery, "" if there is none. A query that compares a revision with itself has errors.
func (p *Prometheus) errors(namespace, canary, stable string) string {
	var pods []*api.Pod
	for _, object := range p.Store.Objects("/pods/" + namespace + "/") {
		pod := object.(*api.Pod)
		hashes := []string{pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey], pod.Labels[appsv1.ControllerRevisionHashLabelKey]}
		if IsReady(pod) && slices.Contains(hashes, canary) {
			pods = append(pods, pod)
		}
	}
	switch {
	case len(pods) == 0:
		return ""
	case canary == stable || slices.ContainsFunc(pods, hasErrors):
		return "1"
	}
	p.measurements[pods[0].Labels[modelv1.SelectorLabel]]++
	return "0"
}

func hasErrors(pod *api.Pod) bool { return HasErrors(pod.Spec.Containers[0].Image) }

// HasErrors returns whether the pods of the image have errors when they are ready.
func HasErrors(image string) bool { return strings.HasPrefix(image, ErringImage) }
