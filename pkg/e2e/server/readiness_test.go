// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// maxStatusLag is the longest time that a status may lag behind the pods, on a busy machine.
const maxStatusLag = 10 * time.Second

// readinessReader finds boxes that are Ready although the spec of one of their pods does not match. A status always lags for a
// moment. A status that does not change meanwhile is wrong.
type readinessReader struct {
	*framework.Namespace
	readings int
	suspects map[suspect]time.Time
	lies     map[suspect]string
}

// suspect is a pod that does not match its box at a resource version.
type suspect struct {
	pod     types.UID
	version string
}

func newReadinessReader(n *framework.Namespace) *readinessReader {
	return &readinessReader{Namespace: n, suspects: map[suspect]time.Time{}, lies: map[suspect]string{}}
}

// read repeatedly reads all boxes and pods until ctx is done. It ignores errors while a server is down: no status can change
// meanwhile.
func (r *readinessReader) read(ctx context.Context) {
	for ctx.Err() == nil {
		if pods, boxes, err := r.list(ctx); err == nil {
			r.compare(boxes, pods)
		} else {
			clear(r.suspects)
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (r *readinessReader) list(ctx context.Context) ([]corev1.Pod, []modelv1.ModelBox, error) {
	pods, err := r.Pods.List(ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel})
	if err != nil {
		return nil, nil, err
	}
	boxes, err := r.Boxes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	return pods.Items, boxes.Items, nil
}

func (r *readinessReader) compare(boxes []modelv1.ModelBox, pods []corev1.Pod) {
	ready := map[string]*modelv1.ModelBox{}
	for i := range boxes {
		condition := meta.FindStatusCondition(boxes[i].Status.Conditions, modelv1.ConditionReady)
		if condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == boxes[i].Generation {
			ready[boxes[i].Name] = &boxes[i]
			r.readings++
		}
	}
	for i := range pods {
		box := ready[pods[i].Labels[modelv1.SelectorLabel]]
		if box == nil || pods[i].DeletionTimestamp != nil {
			continue
		}
		difference := runsSomethingElse(box, &pods[i])
		key := suspect{pods[i].UID, box.ResourceVersion}
		switch since, isSuspect := r.suspects[key]; {
		case difference == "":
		case !isSuspect:
			r.suspects[key] = time.Now()
		case time.Since(since) > maxStatusLag:
			r.lies[key] = fmt.Sprintf("box %s says Ready, and for %s its pod %s %s", box.Name, maxStatusLag, pods[i].Name, difference)
		}
	}
}

// runsSomethingElse returns the difference between a pod and its box, empty if the pod matches.
func runsSomethingElse(box *modelv1.ModelBox, pod *corev1.Pod) string {
	main := &pod.Spec.Containers[0]
	switch {
	case len(pod.Spec.Containers) != 1 || main.Name != box.Spec.Name:
		return fmt.Sprintf("has the containers %v", framework.ContainerNames(pod.Spec.Containers))
	case main.Image != box.Spec.Image:
		return "runs " + main.Image
	}
	// Of several variables with a name, the last one wins, as in the process. The pod may have additional variables.
	values := map[string]string{}
	for _, variable := range main.Env {
		values[variable.Name] = variable.Value
	}
	for _, variable := range box.Spec.Envs {
		if values[variable.Name] != variable.Value {
			return fmt.Sprintf("has %s=%s, not %s", variable.Name, values[variable.Name], variable.Value)
		}
	}
	return ""
}

// expectTruth fails the test for every box that was Ready with a wrong pod.
func (r *readinessReader) expectTruth() {
	r.T.Helper()
	r.T.Logf("%d readings of Ready", r.readings)
	for _, lie := range r.lies {
		r.T.Error(lie)
	}
}
