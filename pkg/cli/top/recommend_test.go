// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// container is a container of a box, with what its pods use.
type container struct {
	name             string
	requests, limits corev1.ResourceList
	used             []corev1.ResourceList
}

func TestRecommendations(t *testing.T) {
	box := func(name string, changes ...func(*modelv1.ModelBox)) *modelv1.ModelBox {
		box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"}}
		box.Spec.Name, box.Spec.ResourceType = name, modelv1.ResourceTypeCustom
		for _, change := range changes {
			change(box)
		}
		return box
	}
	ofStack := func(box *modelv1.ModelBox) {
		box.Labels = map[string]string{modelv1.StackLabel: "shop", modelv1.ComponentLabel: "api"}
	}
	withSidecar := func(box *modelv1.ModelBox) { box.Spec.InitContainers = []corev1.Container{{Name: "proxy"}} }
	one := func(cpu, memory string) []corev1.ResourceList { return []corev1.ResourceList{list(cpu, memory)} }
	for _, row := range []struct {
		name       string
		box        *modelv1.ModelBox
		containers []container
		want       string
	}{
		{"the pod that uses most decides", box("web"), []container{{"web", list("100m", "256Mi"), nil, []corev1.ResourceList{list("50m", "32Mi"), list("150m", "16Mi")}}}, `
web web 2 150m 100m 190m 32Mi 256Mi 48Mi
kubectl modelbox set resources web --namespace=shop --containers=web --requests=cpu=190m,memory=48Mi`},
		{"a request that is near stays", box("web"), []container{{"web", list("100m", "64Mi"), nil, one("70m", "64Mi")}}, `
web web 1 70m 100m 90m 64Mi 64Mi 80Mi
kubectl modelbox set resources web --namespace=shop --containers=web --requests=memory=80Mi`},
		{"all requests are near", box("web"), []container{{"web", list("100m", "64Mi"), nil, one("80m", "50Mi")}}, `
web web 1 80m 100m 100m 50Mi 64Mi 64Mi`},
		{"it has no requests and does nothing", box("web"), []container{{"web", nil, nil, one("0", "1Mi")}}, `
web web 1 0m <none> 10m 1Mi <none> 16Mi
kubectl modelbox set resources web --namespace=shop --containers=web --requests=cpu=10m,memory=16Mi`},
		{"a limit stays equal to the request, and is not less", box("web"), []container{{"web", list("100m", "64Mi"), list("100m", "70Mi"), one("40m", "100Mi")}}, `
web web 1 40m 100m 50m 100Mi 64Mi 128Mi
kubectl modelbox set resources web --namespace=shop --containers=web --requests=cpu=50m,memory=128Mi --limits=cpu=50m,memory=128Mi`},
		{"a limit that is more stays", box("web"), []container{{"web", list("100m", "64Mi"), list("1", "1Gi"), one("40m", "100Mi")}}, `
web web 1 40m 100m 50m 100Mi 64Mi 128Mi
kubectl modelbox set resources web --namespace=shop --containers=web --requests=cpu=50m,memory=128Mi`},
		{"a stack sets its boxes", box("shop-api", ofStack, withSidecar), []container{
			{"shop-api", nil, nil, one("100m", "64Mi")}, {"proxy", nil, nil, one("8m", "64Mi")},
		}, `
shop-api proxy 1 8m <none> 10m 64Mi <none> 80Mi
shop-api shop-api 1 100m <none> 130m 64Mi <none> 80Mi
kubectl modelbox set resources mst/shop --namespace=shop --containers=api/proxy --requests=cpu=10m,memory=80Mi
kubectl modelbox set resources mst/shop --namespace=shop --containers=api --requests=cpu=130m,memory=80Mi`},
		{"a class sets the resources", box("web", func(box *modelv1.ModelBox) { box.Spec.ResourceType = modelv1.ResourceTypeSmall }),
			[]container{{"web", list("1", "2Gi"), list("1", "2Gi"), one("100m", "64Mi")}}, `
web web 1 100m 1 130m 64Mi 2Gi 80Mi
# box web: resourceType small sets the resources of container web, set resourceType to custom first`},
		{"another client adds a container", box("web"), []container{{"injected", nil, nil, one("100m", "64Mi")}}, `
web injected 1 100m <none> 130m 64Mi <none> 80Mi
# box web: container injected is in podTemplate, or another client adds it to the pods`},
	} {
		t.Run(row.name, func(t *testing.T) {
			of := &usage{box: row.box}
			for _, c := range row.containers {
				for _, used := range c.used {
					asked := corev1.Container{Name: c.name, Resources: corev1.ResourceRequirements{Requests: c.requests, Limits: c.limits}}
					of.add(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{asked}}},
						&metricsv1beta1.PodMetrics{Containers: []metricsv1beta1.ContainerMetrics{{Name: c.name, Usage: used}, {Name: "ended", Usage: used}}})
				}
			}
			streams, _, out, _ := genericiooptions.NewTestIOStreams()
			o := Options{IOStreams: streams, NoHeaders: true}
			if err := o.printRecommendations([]*usage{of, {box: box("idle")}}); err != nil {
				t.Fatal(err)
			}
			var got [][]string
			for _, line := range fields(out.String()) {
				if len(line) > 0 && !strings.HasPrefix(strings.Join(line, " "), "# Each recommendation") {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(fields(row.want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
