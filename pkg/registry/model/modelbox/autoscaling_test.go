// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// withAutoscaling gives the box an autoscaler that chooses from so many pods, by a share of the CPU.
func withAutoscaling(minimum, maximum int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Autoscaling = &model.ModelBoxAutoscaling{MinReplicas: &minimum, MaxReplicas: maximum, CPU: ptr.To[int32](70)}
	}
}

func withReplicas(replicas *int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Replicas = replicas }
}

// warnings records the warnings of a request.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

func TestUpdateLeavesReplicasToTheAutoscaler(t *testing.T) {
	stays := "spec.replicas: " + warn.ReplicasStay(5, 2)
	main, scale := newStrategy(), NewScaleStrategy(newStrategy())
	plain := func(*model.ModelBox) {}
	for _, row := range []struct {
		name        string
		strategy    rest.RESTUpdateStrategy
		old, new    func(*model.ModelBox)
		current     int32
		asked, want int32
		warnings    warnings
	}{
		{"a box without an autoscaler is scaled", main, plain, plain, 5, 2, 2, nil},
		{"a box that gets one starts with its number", main, plain, withAutoscaling(1, 9), 5, 2, 2, nil},
		{"a box that has one keeps the number of the autoscaler", main, withAutoscaling(1, 9), withAutoscaling(1, 9), 5, 2, 5, warnings{stays}},
		{"one that another one is asked for keeps it as well", main, withAutoscaling(1, 9), withAutoscaling(1, 4), 5, 2, 5, warnings{stays}},
		{"the same number has no warning", main, withAutoscaling(1, 9), withAutoscaling(1, 9), 5, 5, 5, nil},
		{"the autoscaler scales the box", scale, withAutoscaling(1, 9), withAutoscaling(1, 9), 5, 2, 2, nil},
		{"a box is stopped", main, withAutoscaling(1, 9), withAutoscaling(1, 9), 5, 0, 0, nil},
		{"and started again", main, withAutoscaling(1, 9), withAutoscaling(1, 9), 0, 2, 2, nil},
		{"a box that loses its autoscaler says the number", main, withAutoscaling(1, 9), plain, 5, 2, 2, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var told warnings
			ctx := warning.WithWarningRecorder(t.Context(), &told)
			old, box := webBox(row.old, withReplicas(&row.current)), webBox(row.new, withReplicas(&row.asked))
			row.strategy.PrepareForUpdate(ctx, box, old)
			if *box.Spec.Replicas != row.want {
				t.Errorf("the box has %d replicas, want %d", *box.Spec.Replicas, row.want)
			}
			if isChanged := row.want != row.current || !cmp.Equal(old.Spec.Autoscaling, box.Spec.Autoscaling); isChanged != (box.Generation > old.Generation) {
				t.Errorf("the generation is %d after %d", box.Generation, old.Generation)
			}
			if diff := cmp.Diff(row.warnings, told); diff != "" {
				t.Errorf("warnings, -want +got:\n%s", diff)
			}
		})
	}
}

func TestAutoscalingWarnings(t *testing.T) {
	ofContainer := func(container string) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.Autoscaling.Metrics = []autoscalingv2.MetricSpec{{Type: "ContainerResource", ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Container: container}}}
		}
	}
	withSide := func(box *model.ModelBox) {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "side", Image: "side:1"}}}}
	}
	for _, row := range []struct {
		name    string
		changes []func(*model.ModelBox)
		want    []string
	}{
		{"replicas within the range", []func(*model.ModelBox){withAutoscaling(1, 9)}, nil},
		{"replicas above it", []func(*model.ModelBox){withAutoscaling(1, 9), withReplicas(ptr.To[int32](10))},
			[]string{"spec.autoscaling.maxReplicas: " + warn.ReplicasRemoved(10)}},
		{"replicas below it", []func(*model.ModelBox){withAutoscaling(3, 9)}, []string{"spec.autoscaling.minReplicas: " + warn.ReplicasAdded(2)}},
		{"a stopped box", []func(*model.ModelBox){withAutoscaling(3, 9), withReplicas(ptr.To[int32](0))}, nil},
		{"a metric of the main container", []func(*model.ModelBox){withAutoscaling(1, 9), ofContainer("web")}, nil},
		{"a metric of a container of the overlay", []func(*model.ModelBox){withAutoscaling(1, 9), ofContainer("side"), withSide}, nil},
		{"a metric of a container that another controller must add", []func(*model.ModelBox){withAutoscaling(1, 9), ofContainer("proxy")},
			[]string{"spec.autoscaling.metrics[0].containerResource.container: " + warn.NoContainer("proxy")}},
		{"a volume that so many pods do not get", []func(*model.ModelBox){withAutoscaling(1, 9), withReplicas(ptr.To[int32](1)), volumeOf("data", corev1.ReadWriteOnce)},
			[]string{"spec.storage[0].accessModes: " + warn.SharedVolume("ReadWriteOnce", 9)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(row.changes...)
			if diff := cmp.Diff(row.want, newStrategy(box).WarningsOnCreate(t.Context(), box), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDisruptionWarnings(t *testing.T) {
	minAvailable := func(value intstr.IntOrString) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.DisruptionBudget = &model.ModelBoxDisruptionBudget{MinAvailable: &value}
		}
	}
	maxUnavailable := func(value intstr.IntOrString) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.DisruptionBudget = &model.ModelBoxDisruptionBudget{MaxUnavailable: &value}
		}
	}
	pods := func(replicas int32) func(*model.ModelBox) { return withReplicas(&replicas) }
	number, percent := intstr.FromInt32, intstr.FromString
	blocks := func(name, has string) []string {
		return []string{"spec.disruptionBudget." + name + ": " + warn.NoEviction(has)}
	}
	for _, row := range []struct {
		name    string
		changes []func(*model.ModelBox)
		want    []string
	}{
		{"one of two pods has to stay", []func(*model.ModelBox){minAvailable(number(1))}, nil},
		{"two of two pods have to stay", []func(*model.ModelBox){minAvailable(number(2))}, blocks("minAvailable", " while the box has 2 pods")},
		{"more than there are have to stay", []func(*model.ModelBox){minAvailable(number(3))}, blocks("minAvailable", " while the box has 2 pods")},
		{"all have to stay", []func(*model.ModelBox){minAvailable(percent("100%"))}, blocks("minAvailable", " while the box has 2 pods")},
		{"a share has to stay that is all, rounded up", []func(*model.ModelBox){minAvailable(percent("51%"))}, blocks("minAvailable", " while the box has 2 pods")},
		{"a half has to stay", []func(*model.ModelBox){minAvailable(percent("50%"))}, nil},
		{"the only pod has to stay", []func(*model.ModelBox){minAvailable(number(1)), pods(1)}, blocks("minAvailable", " while the box has 1 pod")},
		{"a half of the only pod has to stay", []func(*model.ModelBox){minAvailable(percent("50%")), pods(1)}, blocks("minAvailable", " while the box has 1 pod")},
		{"none may be missing", []func(*model.ModelBox){maxUnavailable(number(0))}, blocks("maxUnavailable", "")},
		{"no share may be missing", []func(*model.ModelBox){maxUnavailable(percent("0%"))}, blocks("maxUnavailable", "")},
		{"a share may be missing that is one, rounded up", []func(*model.ModelBox){maxUnavailable(percent("1%"))}, nil},
		{"the only pod may be missing", []func(*model.ModelBox){maxUnavailable(number(1)), pods(1)}, nil},
		{"none has to stay", []func(*model.ModelBox){minAvailable(number(0))}, nil},
		{"a stopped box has no pods", []func(*model.ModelBox){minAvailable(number(1)), pods(0)}, nil},
		{"the fewest pods of an autoscaler count", []func(*model.ModelBox){minAvailable(number(2)), withAutoscaling(2, 9), pods(5)}, blocks("minAvailable", " while the box has 2 pods")},
		{"an autoscaler that removes all pods has one at first", []func(*model.ModelBox){minAvailable(number(1)), withAutoscaling(0, 9)}, blocks("minAvailable", " while the box has 1 pod")},
		{"more pods than the minimum of an autoscaler", []func(*model.ModelBox){minAvailable(number(1)), withAutoscaling(2, 9)}, nil},
		{"a drain does not evict pods of a DaemonSet", []func(*model.ModelBox){minAvailable(number(9)), daemonSet}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(row.changes...)
			if diff := cmp.Diff(row.want, newStrategy(box).WarningsOnCreate(t.Context(), box), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What pods request is validated with what the class of the box and its overlay make of them.
func TestValidateUtilization(t *testing.T) {
	small := func(box *model.ModelBox) { box.Spec.ResourceType = model.ResourceTypeSmall }
	side := func(box *model.ModelBox) {
		box.Spec.Containers = []corev1.Container{{Name: "side", Image: "side:1"}}
	}
	overlay := func(name corev1.ResourceName) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			container := corev1.Container{Name: "side", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{name: resource.MustParse("1")}}}
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}}
		}
	}
	const (
		setMain = "spec.resources.requests.cpu or spec.resourceType"
		setSide = "spec.containers[0].resources.requests.cpu"
	)
	needs := func(field string) string {
		return "spec.autoscaling.cpu: Invalid value: 70: " + validation.MustHaveRequests("cpu", []string{field})
	}
	strategy := newStrategy()
	for _, row := range []struct {
		name    string
		changes []func(*model.ModelBox)
		want    string
	}{
		{"without requests it is refused", nil, needs(setMain)},
		{"a class has requests", []func(*model.ModelBox){small}, ""},
		{"a class is for one container", []func(*model.ModelBox){small, side}, needs(setSide)},
		{"the overlay adds the request", []func(*model.ModelBox){small, side, overlay("cpu")}, ""},
		{"the overlay adds another one", []func(*model.ModelBox){small, side, overlay("memory")}, needs(setSide)},
	} {
		t.Run(row.name, func(t *testing.T) {
			box, old := webBox(append(row.changes, withAutoscaling(1, 9))...), webBox(small)
			for what, errs := range map[string]field.ErrorList{
				"create": strategy.Validate(t.Context(), box),
				"update": strategy.ValidateUpdate(t.Context(), box, old),
			} {
				if got := textOf(errs); got != row.want {
					t.Errorf("%s: got  %q\nwant %q", what, got, row.want)
				}
			}
		})
	}
	t.Run("a request may not go while it counts", func(t *testing.T) {
		old, box := webBox(small, withAutoscaling(1, 9)), webBox(withAutoscaling(1, 9))
		if got := textOf(strategy.ValidateUpdate(t.Context(), box, old)); got != needs(setMain) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("what was wrong already stays", func(t *testing.T) {
		old, box := webBox(withAutoscaling(1, 9)), webBox(withAutoscaling(1, 9), func(box *model.ModelBox) { box.Spec.Image = "nginx:2" })
		if errs := strategy.ValidateUpdate(t.Context(), box, old); len(errs) > 0 {
			t.Errorf("got %v", errs)
		}
	})
}

func textOf(errs field.ErrorList) string {
	if len(errs) == 0 {
		return ""
	}
	return errs.ToAggregate().Error()
}
