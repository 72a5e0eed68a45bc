// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// newPod returns a pod of a box, which requests that much for each of two containers.
func newPod(box, name, cpu, memory string) corev1.Pod {
	container := corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(cpu, memory)}}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{modelv1.SelectorLabel: box}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{container, container}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func newMetrics(pod, cpu, memory string) metricsv1beta1.PodMetrics {
	container := metricsv1beta1.ContainerMetrics{Usage: list(cpu, memory)}
	return metricsv1beta1.PodMetrics{ObjectMeta: metav1.ObjectMeta{Name: pod}, Containers: []metricsv1beta1.ContainerMetrics{container, container}}
}

func TestTop(t *testing.T) {
	done := newPod("web", "web-done", "1", "1Gi")
	done.Status.Phase = corev1.PodSucceeded
	pods := []corev1.Pod{
		newPod("web", "web-1", "100m", "64Mi"), newPod("web", "web-2", "100m", "64Mi"), newPod("web", "web-new", "100m", "64Mi"), done,
		newPod("db", "db-0", "0", "0"), newPod("stranger", "stranger", "1", "1Gi"),
	}
	measured := []metricsv1beta1.PodMetrics{
		newMetrics("web-1", "50m", "32Mi"), newMetrics("web-2", "150m", "16Mi"), newMetrics("web-done", "1", "1Gi"), newMetrics("db-0", "5m", "512Mi"),
	}
	for _, row := range []struct {
		name    string
		options Options
		want    string
	}{
		{"by name", Options{}, `
NAME   PODS   CPU(cores)   CPU(%)      MEMORY(bytes)   MEMORY(%)
db     1      10m          <none>      1024Mi          <none>
idle   0      <unknown>    <none>      <unknown>       <none>
web    2/3    400m         100%        96Mi            38%
`},
		{"by CPU", Options{SortBy: "cpu", NoHeaders: true}, `
web    2/3   400m        100%     96Mi        38%
db     1     10m         <none>   1024Mi      <none>
idle   0     <unknown>   <none>   <unknown>   <none>
`},
		{"by memory", Options{SortBy: "memory", NoHeaders: true}, `
db     1     10m         <none>   1024Mi      <none>
web    2/3   400m        100%     96Mi        38%
idle   0     <unknown>   <none>   <unknown>   <none>
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var usages []*usage
			of := map[string]*usage{}
			for _, name := range []string{"web", "idle", "db"} {
				of[name] = &usage{box: &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: name}}}
				usages = append(usages, of[name])
			}
			addPods(of, pods, measured)
			sortUsages(usages, row.options.SortBy)
			streams, _, out, _ := genericiooptions.NewTestIOStreams()
			row.options.IOStreams = streams
			if err := row.options.print(usages); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fields(row.want), fields(out.String())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// fields are the words of each line.
func fields(table string) (lines [][]string) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}
