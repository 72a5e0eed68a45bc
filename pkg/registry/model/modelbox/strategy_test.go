// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

var (
	_ rest.RESTCreateStrategy  = Strategy{}
	_ rest.RESTUpdateStrategy  = Strategy{}
	_ rest.RESTDeleteStrategy  = Strategy{}
	_ rest.ResetFieldsStrategy = Strategy{}
	_ rest.RESTUpdateStrategy  = ScaleStrategy{}
)

// newStrategy returns a strategy for a cluster that has the given boxes.
func newStrategy(boxes ...*model.ModelBox) Strategy {
	return NewStrategy(scheme, func(context.Context) (*model.ModelBoxList, error) {
		list := &model.ModelBoxList{}
		for _, box := range boxes {
			list.Items = append(list.Items, *box)
		}
		return list, nil
	}, findNetwork, seesNamespaces("default", "post"), SpecValidator{NodePortRange: utilnet.PortRange{Base: 30000, Size: 2768}})
}

func TestPrepareForCreate(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*model.ModelBox)
		want   func(*model.ModelBox)
	}{
		{"a status is dropped for one that knows nothing, and the generations begin", func(*model.ModelBox) {}, func(*model.ModelBox) {}},
		{"a generated name, which is there by now, names the main container",
			func(box *model.ModelBox) { box.GenerateName, box.Name, box.Spec.Name = "web-", "web-x7k2p", "" },
			func(box *model.ModelBox) {
				box.GenerateName, box.Name, box.Spec.Name = "web-", "web-x7k2p", "web-x7k2p"
			}},
		{"a name of the main container stays",
			func(box *model.ModelBox) { box.GenerateName, box.Name, box.Spec.Name = "web-", "web-x7k2p", "app" },
			func(box *model.ModelBox) { box.GenerateName, box.Name, box.Spec.Name = "web-", "web-x7k2p", "app" }},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(row.change)
			newStrategy().PrepareForCreate(t.Context(), box)
			want := webBox(row.want)
			want.Generation = 1
			want.Status = model.ModelBoxStatus{Conditions: []metav1.Condition{{
				Type: "Ready", Status: metav1.ConditionUnknown, Reason: "Pending", Message: "the controller has not seen this box yet",
			}}}
			if box.Status.Conditions[0].LastTransitionTime.IsZero() {
				t.Error("the condition has no time")
			}
			if diff := cmp.Diff(want, box, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPrepareForUpdate(t *testing.T) {
	for _, row := range []struct {
		name       string
		change     func(*model.ModelBox)
		generation int64
	}{
		{"nothing is changed", func(*model.ModelBox) {}, 3},
		{"another label", func(box *model.ModelBox) { box.Labels = nil }, 3},
		{"another annotation", func(box *model.ModelBox) { box.Annotations = map[string]string{"a": "b"} }, 3},
		{"another status, which is not taken", func(box *model.ModelBox) { box.Status = model.ModelBoxStatus{Replicas: 9} }, 3},
		{"an empty list in place of none", func(box *model.ModelBox) { box.Spec.Args = []string{} }, 3},
		{"another image", func(box *model.ModelBox) { box.Spec.Image = "nginx:2" }, 4},
		{"a pause", func(box *model.ModelBox) { box.Spec.Paused = true }, 4},
		{"another replica", func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](3) }, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			box, old := webBox(row.change), webBox()
			newStrategy().PrepareForUpdate(t.Context(), box, old)
			want := webBox(row.change)
			want.Generation, want.Status = row.generation, webBox().Status
			if diff := cmp.Diff(want, box); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPrepareForStatusUpdate(t *testing.T) {
	old := webBox()
	box := webBox(func(box *model.ModelBox) {
		box.Spec = model.ModelBoxSpec{Image: "nginx:2"}
		box.Labels = map[string]string{"team": "mail"}
		box.Annotations = map[string]string{"a": "b"}
		box.Finalizers = []string{"example.com/keep"}
		box.OwnerReferences = []metav1.OwnerReference{{Name: "stack"}}
		box.Status = model.ModelBoxStatus{Replicas: 9}
	})
	NewStatusStrategy(newStrategy()).PrepareForUpdate(t.Context(), box, old)

	want := webBox(func(box *model.ModelBox) { box.Status = model.ModelBoxStatus{Replicas: 9} })
	if diff := cmp.Diff(want, box); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The fields that server-side apply gives no field manager must be the fields that the strategies reset.
func TestResetFields(t *testing.T) {
	strategy := newStrategy()
	for _, row := range []struct {
		name   string
		fields map[fieldpath.APIVersion]*fieldpath.Set
		want   *fieldpath.Set
	}{
		{"the main resource", strategy.GetResetFields(), fieldpath.NewSet(
			fieldpath.MakePathOrDie("status"), fieldpath.MakePathOrDie("metadata", "annotations", "model.github.com/changed-by"))},
		{"the status", NewStatusStrategy(strategy).GetResetFields(),
			fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))},
	} {
		t.Run(row.name, func(t *testing.T) {
			if len(row.fields) != 1 || !row.fields["model.github.com/v1"].Equals(row.want) {
				t.Errorf("got %v, want %v of model.github.com/v1", row.fields, row.want)
			}
		})
	}
}

func TestStrategyValidates(t *testing.T) {
	strategy := newStrategy()
	status := NewStatusStrategy(strategy)
	noImage := webBox(func(box *model.ModelBox) { box.Spec.Image = "" })
	// Only the pod template as it is rendered shows that the container of the overlay has two ports of one name.
	ambiguous := webBox(func(box *model.ModelBox) {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "debug", Image: "debug:1", Ports: []corev1.ContainerPort{{Name: "admin", ContainerPort: 1}, {Name: "admin", ContainerPort: 2}},
		}}}}
	})
	overlaid := webBox(func(box *model.ModelBox) {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}}}
	})
	// On the host's network no two containers have one port.
	beside := webBox(func(box *model.ModelBox) {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			HostNetwork: true,
			Containers:  []corev1.Container{{Name: "proxy", Image: "proxy:1", Ports: []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}}}},
		}}
	})
	privileged := webBox(nodePortOf(corev1.ProtocolTCP, 8080))
	negative := webBox(func(box *model.ModelBox) { box.Status.Replicas = -1 })
	for _, row := range []struct {
		name string
		errs int
		want int
	}{
		{"a box that is created", len(strategy.Validate(t.Context(), webBox())), 0},
		{"a box without an image that is created", len(strategy.Validate(t.Context(), noImage)), 1},
		{"a box that is updated", len(strategy.ValidateUpdate(t.Context(), webBox(), webBox())), 0},
		{"a box that is updated to none without an image", len(strategy.ValidateUpdate(t.Context(), noImage, webBox())), 1},
		{"a box with an overlay", len(strategy.Validate(t.Context(), overlaid)), 0},
		{"a box on the host's network whose overlay has a container for its port", len(strategy.Validate(t.Context(), beside)), 0},
		{"a box whose overlay makes an invalid pod", len(strategy.Validate(t.Context(), ambiguous)), 1},
		{"a box that is updated to one whose overlay makes an invalid pod", len(strategy.ValidateUpdate(t.Context(), ambiguous, webBox())), 1},
		{"a box as large as one may be", len(strategy.Validate(t.Context(), large(maxSpecBytes-1000))), 0},
		{"a box that is larger", len(strategy.Validate(t.Context(), large(maxSpecBytes))), 1},
		{"a box that was too large already and gets smaller", len(strategy.ValidateUpdate(t.Context(), large(2*maxSpecBytes-1), large(2*maxSpecBytes))), 0},
		{"a box that was too large already and stays as large", len(strategy.ValidateUpdate(t.Context(), large(2*maxSpecBytes), large(2*maxSpecBytes))), 0},
		{"a box that was too large already and grows", len(strategy.ValidateUpdate(t.Context(), large(2*maxSpecBytes+1), large(2*maxSpecBytes))), 1},
		{"a box that grows larger than one may be", len(strategy.ValidateUpdate(t.Context(), large(maxSpecBytes), webBox())), 1},
		{"a box whose spec stays what was accepted once", len(strategy.ValidateUpdate(t.Context(), ambiguous, ambiguous)), 0},
		{"a node port that the cluster does not give out", len(strategy.Validate(t.Context(), privileged)), 1},
		{"a node port that the cluster gives out", len(strategy.Validate(t.Context(), webBox(nodePortOf(corev1.ProtocolTCP, 32767)))), 0},
		{"a box that is updated to a node port that the cluster does not give out", len(strategy.ValidateUpdate(t.Context(), privileged, webBox())), 1},
		{"a box whose node port was accepted once", len(strategy.ValidateUpdate(t.Context(), webBox(nodePortOf(corev1.ProtocolTCP, 8080), image("nginx:2")), privileged)), 0},
		{"a status that is updated", len(status.ValidateUpdate(t.Context(), webBox(), webBox())), 0},
		{"a status that is updated to negative replicas", len(status.ValidateUpdate(t.Context(), negative, webBox())), 1},
		{"a status that is updated although the spec would not be accepted today", len(status.ValidateUpdate(t.Context(), noImage, noImage)), 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.errs != row.want {
				t.Errorf("got %d errors, want %d", row.errs, row.want)
			}
		})
	}
}

// A rule that an upgrade tightens shows in the pod template of boxes that were accepted before.
func TestUpdateOfABoxWhosePodTemplateWasInvalidAlready(t *testing.T) {
	overlaid := func(containers ...corev1.Container) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: containers}}
		}
	}
	wrongMain, wrongPolicy := corev1.Container{Name: "web", ImagePullPolicy: "Often"}, corev1.Container{Name: "side", Image: "side:1", ImagePullPolicy: "Often"}
	right := corev1.Container{Name: "right", Image: "side:1"}
	withSide := func(box *model.ModelBox) { box.Spec.Containers = []corev1.Container{{Name: "first", Image: "first:1"}} }
	both := func(changes ...func(*model.ModelBox)) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			for _, change := range changes {
				change(box)
			}
		}
	}
	policy := func(index string) string {
		return "Unsupported value: spec.podTemplate.spec.containers[" + index + "].imagePullPolicy"
	}

	for _, row := range []struct {
		name     string
		old, new func(*model.ModelBox)
		want     []string
	}{
		{"it is scaled", overlaid(wrongMain), func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) }, nil},
		{"it is paused", overlaid(wrongMain), func(box *model.ModelBox) { box.Spec.Paused = true }, nil},
		{"it is labelled", overlaid(wrongMain), func(box *model.ModelBox) { box.Labels = map[string]string{"tier": "front"} }, nil},
		{"its image is changed", overlaid(wrongMain), image("nginx:2"), nil},
		{"it is repaired", overlaid(wrongMain, wrongPolicy), overlaid(right), nil},
		{"it is repaired in part", overlaid(wrongMain, wrongPolicy), overlaid(right, wrongPolicy), nil},
		{"its containers move", overlaid(wrongPolicy), both(overlaid(wrongPolicy), withSide), nil},
		{"it gets worse", overlaid(wrongMain), overlaid(wrongMain, wrongPolicy), []string{policy("1")}},
		{"it gets worse in another place", overlaid(wrongMain), both(overlaid(wrongMain), func(box *model.ModelBox) {
			box.Spec.PodTemplate.Spec.Hostname = "a b"
		}), []string{"Invalid value: spec.podTemplate.spec.hostname"}},
		{"it was too large and is scaled", func(box *model.ModelBox) { box.Spec.Args = large(maxSpecBytes).Spec.Args }, func(box *model.ModelBox) {
			box.Spec.Replicas = ptr.To[int32](1000)
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(row.old)
			box := webBox(row.old, row.new)
			var got []string
			for _, err := range newStrategy().ValidateUpdate(t.Context(), box, old) {
				got = append(got, err.Type.String()+": "+err.Field)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// large is a box with an argument of that many bytes.
func large(bytes int) *model.ModelBox {
	return webBox(func(box *model.ModelBox) { box.Spec.Args = []string{strings.Repeat("x", bytes)} })
}

func TestStrategyAnswers(t *testing.T) {
	strategy := newStrategy()
	for _, row := range []struct {
		name string
		got  bool
		want bool
	}{
		{"a box lives in a namespace", strategy.NamespaceScoped(), true},
		{"a PUT creates no box", strategy.AllowCreateOnUpdate(t.Context()), false},
		{"a PUT without a version replaces what is there", strategy.AllowUnconditionalUpdate(t.Context()), true},
	} {
		if row.got != row.want {
			t.Errorf("%s: got %v", row.name, row.got)
		}
	}
}
