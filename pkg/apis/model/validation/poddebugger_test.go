// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
)

func newPodDebugger(changes ...func(*model.PodDebuggerSpec)) *model.PodDebugger {
	debugger := &model.PodDebugger{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tools", ResourceVersion: "1"},
		Spec: model.PodDebuggerSpec{
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, Image: "busybox:1.37",
			Profile: model.DebugProfileGeneral, MaxPods: ptr.To[int32](10), WhenDeleted: model.PodDebuggerRetain,
		},
	}
	for _, change := range changes {
		change(&debugger.Spec)
	}
	return debugger
}

func TestValidatePodDebugger(t *testing.T) {
	type spec = *model.PodDebuggerSpec
	selecting := func(requirements ...metav1.LabelSelectorRequirement) func(spec) {
		return func(s spec) { s.Selector = metav1.LabelSelector{MatchExpressions: requirements} }
	}
	const noSelector = "spec.selector: Required value: " + MustSelectPods
	for _, row := range []struct {
		name   string
		change func(spec)
		want   []string
	}{
		{"labels", func(spec) {}, nil},
		{"an expression", selecting(metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpExists}), nil},
		{"everything", func(s spec) {
			s.ImagePullPolicy, s.Command, s.Args, s.TargetContainer = corev1.PullNever, []string{"sh"}, []string{"-c", "ps"}, "web"
			s.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
			s.Profile, s.MaxPods, s.TTLSecondsAfterCreation = model.DebugProfileSysadmin, ptr.To[int32](100), ptr.To[int32](1)
			s.WhenDeleted = model.PodDebuggerRestartBoxes
		}, nil},

		{"no selector", func(s spec) { s.Selector = metav1.LabelSelector{} }, []string{noSelector}},
		{"empty labels", func(s spec) { s.Selector = metav1.LabelSelector{MatchLabels: map[string]string{}} }, []string{noSelector}},
		{"no label", func(s spec) { s.Selector.MatchLabels = map[string]string{"a b": "c"} },
			[]string{`spec.selector.matchLabels: Invalid value: "a b": name part must consist of alphanumeric characters`}},
		{"no values", selecting(metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpIn}),
			[]string{"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"}},
		{"no image", func(s spec) { s.Image = "" }, []string{`spec.image: Required value: must name an image, such as "nginx:1.7.9"`}},
		{"what is no image", func(s spec) { s.Image = "Busybox" }, []string{`spec.image: Invalid value: "Busybox": must name an image`}},
		{"an image that is too long", func(s spec) { s.Image = strings.Repeat("x", 1025) }, []string{"spec.image: Too long: may not be more than 1024 bytes"}},
		{"no pull policy", func(s spec) { s.ImagePullPolicy = "Sometimes" }, []string{`spec.imagePullPolicy: Unsupported value: "Sometimes"`}},
		{"no variable", func(s spec) { s.Env = []corev1.EnvVar{{Name: "a=b"}} }, []string{`spec.env[0].name: Invalid value: "a=b"`}},
		{"the same variable twice", func(s spec) { s.Env = []corev1.EnvVar{{Name: "A"}, {Name: "A"}} }, []string{`spec.env[1].name: Duplicate value: "A"`}},
		{"no container", func(s spec) { s.TargetContainer = "Web" }, []string{`spec.targetContainer: Invalid value: "Web"`}},
		{"no profile", func(s spec) { s.Profile = "legacy" }, []string{`spec.profile: Unsupported value: "legacy": supported values: "baseline", "general", "netadmin", "restricted", "sysadmin"`}},
		{"no pods", func(s spec) { s.MaxPods = ptr.To[int32](0) }, []string{"spec.maxPods: Invalid value: 0: must be greater than or equal to 1"}},
		{"too many pods", func(s spec) { s.MaxPods = ptr.To[int32](101) }, []string{"spec.maxPods: Invalid value: 101: must be less than or equal to 100"}},
		{"no time", func(s spec) { s.TTLSecondsAfterCreation = ptr.To[int32](0) }, []string{"spec.ttlSecondsAfterCreation: Invalid value: 0: must be greater than or equal to 1"}},
		{"no deletion policy", func(s spec) { s.WhenDeleted = "Delete" }, []string{`spec.whenDeleted: Unsupported value: "Delete": supported values: "RestartBoxes", "Retain"`}},
		{"too many arguments", func(s spec) { s.Args = make([]string, 1025) }, []string{"spec.args: Too many: 1025: must have at most 1024 items"}},
		{"too much of everything", func(s spec) { s.Args = []string{strings.Repeat("x", 64<<10)} }, []string{"spec: Too long: may not be more than 65536 bytes"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := messages(ValidatePodDebugger(t.Context(), newPodDebugger(row.change)))
			for i := range min(len(got), len(row.want)) {
				if strings.HasPrefix(got[i], row.want[i]) {
					got[i] = row.want[i] // the rest is Kubernetes' own
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestValidatePodDebuggerUpdate(t *testing.T) {
	type spec = *model.PodDebuggerSpec
	for _, row := range []struct {
		name   string
		change func(spec)
		want   []string
	}{
		{"nothing", func(spec) {}, nil},
		{"which pods, until when, and what becomes of them", func(s spec) {
			s.Selector.MatchLabels, s.MaxPods = map[string]string{"app": "b"}, ptr.To[int32](1)
			s.TTLSecondsAfterCreation, s.WhenDeleted = ptr.To[int32](60), model.PodDebuggerRestartBoxes
		}, nil},
		{"no selector", func(s spec) { s.Selector = metav1.LabelSelector{} }, []string{"spec.selector"}},
		{"another container", func(s spec) {
			s.Image, s.ImagePullPolicy, s.Command, s.Args = "busybox:1.36", corev1.PullNever, []string{"sh"}, []string{"-c"}
			s.Env, s.TargetContainer, s.Profile = []corev1.EnvVar{{Name: "A"}}, "web", model.DebugProfileSysadmin
		}, []string{"spec.image", "spec.imagePullPolicy", "spec.command", "spec.args", "spec.env", "spec.targetContainer", "spec.profile"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, err := range ValidatePodDebuggerUpdate(t.Context(), newPodDebugger(row.change), newPodDebugger()) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSamplePodDebuggerIsValid(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	data, err := os.ReadFile("../../../../artifacts/samples/poddebugger.yaml")
	if err != nil {
		t.Fatal(err)
	}
	object, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(model.SchemeGroupVersion), data)
	if err != nil {
		t.Fatal(err)
	}
	debugger := object.(*model.PodDebugger)
	debugger.Namespace = metav1.NamespaceDefault
	if errs := ValidatePodDebugger(t.Context(), debugger); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}
