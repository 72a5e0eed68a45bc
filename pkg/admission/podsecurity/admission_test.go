// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

type change = func(*model.ModelBox)

func newBox(changes ...change) *model.ModelBox {
	box := &model.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       model.ModelBoxSpec{Name: "web", Image: "nginx:1.7.9", Replicas: ptr.To[int32](1)},
	}
	for _, change := range changes {
		change(box)
	}
	return box
}

func overlaid(spec corev1.PodSpec) change {
	return func(box *model.ModelBox) { box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: spec} }
}

func runBy(workload model.Workload) change {
	return func(box *model.ModelBox) { box.Spec.Workload = workload }
}

// The changes that make a box violate the baseline standard, and comply with the restricted one.
var (
	privileged = overlaid(corev1.PodSpec{Containers: []corev1.Container{{
		Name: "web", SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)},
	}}})
	restricted = overlaid(corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{Name: "web", SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}}},
	})
	newImage = func(box *model.ModelBox) { box.Spec.Image = "nginx:2" }
	scaled   = func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) }
	paused   = func(box *model.ModelBox) { box.Spec.Paused = true }
	labelled = func(box *model.ModelBox) { box.Labels = map[string]string{"team": "shop"} }
)

const (
	baselineViolation   = `privileged (container "web" must not set securityContext.privileged=true)`
	restrictedViolation = `allowPrivilegeEscalation != false (container "web" must set securityContext.allowPrivilegeEscalation=false), ` +
		`unrestricted capabilities (container "web" must set securityContext.capabilities.drop=["ALL"]), ` +
		`runAsNonRoot != true (pod or container "web" must set securityContext.runAsNonRoot=true), ` +
		`seccompProfile (pod or container "web" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`
)

// newTestPlugin returns a plugin in a cluster with a namespace of the given labels.
func newTestPlugin(t *testing.T, config io.Reader, labels map[string]string) *Plugin {
	t.Helper()
	plugin, err := newPlugin(config)
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: labels}})
	factory := informers.NewSharedInformerFactory(client, 0)
	plugin.SetExternalKubeClientSet(client)
	plugin.SetExternalKubeInformerFactory(factory)
	if err := plugin.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	factory.StartWithContext(t.Context())
	return plugin
}

// attributes returns the attributes of a creation if there is no old box, and of an update otherwise.
func attributes(box, old *model.ModelBox, subresource string) admission.Attributes {
	kind, resource := modelv1.SchemeGroupVersion.WithKind("ModelBox"), modelv1.SchemeGroupVersion.WithResource("modelboxes")
	who := &user.DefaultInfo{Name: "jane"}
	if old == nil {
		return admission.NewAttributesRecord(box, nil, kind, box.Namespace, box.Name, resource, subresource, admission.Create, nil, false, who)
	}
	return admission.NewAttributesRecord(box, old, kind, box.Namespace, box.Name, resource, subresource, admission.Update, nil, false, who)
}

type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

func TestValidate(t *testing.T) {
	enforce := func(level string) map[string]string {
		return map[string]string{"pod-security.kubernetes.io/enforce": level}
	}
	warn := func(level string) map[string]string {
		return map[string]string{"pod-security.kubernetes.io/warn": level}
	}
	wouldViolate := warnings{`would violate PodSecurity "baseline:latest": ` + baselineViolation}
	const forbidden = `modelboxes.model.github.com "web" is forbidden: `

	for _, row := range []struct {
		name     string
		labels   map[string]string
		old, box *model.ModelBox
		err      string
		warnings warnings
	}{
		{"a namespace without labels asks for nothing", nil, nil, newBox(privileged), "", nil},
		{"a namespace asks for what a box is", enforce("baseline"), nil, newBox(), "", nil},
		{"a namespace asks for more than a box is", enforce("baseline"), nil, newBox(privileged),
			forbidden + `violates PodSecurity "baseline:latest": ` + baselineViolation, nil},
		{"a namespace asks the same of a StatefulSet", enforce("baseline"), nil, newBox(privileged, runBy(model.WorkloadStatefulSet)),
			forbidden + `violates PodSecurity "baseline:latest": ` + baselineViolation, nil},
		{"a namespace asks the same of a DaemonSet", enforce("baseline"), nil, newBox(privileged, runBy(model.WorkloadDaemonSet)),
			forbidden + `violates PodSecurity "baseline:latest": ` + baselineViolation, nil},
		{"a namespace asks for the most", enforce("restricted"), nil, newBox(),
			forbidden + `violates PodSecurity "restricted:latest": ` + restrictedViolation, nil},
		{"a namespace asks for the most, and gets it", enforce("restricted"), nil, newBox(restricted), "", nil},
		{"a namespace warns", warn("restricted"), nil, newBox(), "", warnings{`would violate PodSecurity "restricted:latest": ` + restrictedViolation}},
		{"a namespace warns of none", warn("restricted"), nil, newBox(restricted), "", nil},
		{"a namespace warns of what it refuses", map[string]string{"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/warn": "baseline"},
			nil, newBox(privileged), forbidden + `violates PodSecurity "baseline:latest": ` + baselineViolation, nil},

		{"an update to what a namespace refuses", enforce("baseline"), newBox(), newBox(privileged),
			forbidden + `violates PodSecurity "baseline:latest": ` + baselineViolation, nil},
		{"an update of what a namespace refuses", enforce("baseline"), newBox(privileged), newBox(privileged, newImage),
			forbidden + `violates PodSecurity "baseline:latest": ` + baselineViolation, nil},
		{"a repair", enforce("baseline"), newBox(privileged), newBox(), "", nil},
		{"what was accepted before is scaled", enforce("baseline"), newBox(privileged), newBox(privileged, scaled), "", wouldViolate},
		{"what was accepted before is paused", enforce("baseline"), newBox(privileged), newBox(privileged, paused), "", wouldViolate},
		{"what was accepted before is labelled", enforce("baseline"), newBox(privileged), newBox(privileged, labelled), "", wouldViolate},
		{"what was warned of is labelled", warn("baseline"), newBox(privileged), newBox(privileged, labelled), "", wouldViolate},
	} {
		t.Run(row.name, func(t *testing.T) {
			plugin := newTestPlugin(t, nil, row.labels)
			var got warnings
			err := plugin.Validate(warning.WithWarningRecorder(t.Context(), &got), attributes(row.box, row.old, ""), nil)
			switch {
			case row.err == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case row.err != "" && (!apierrors.IsForbidden(err) || err.Error() != row.err):
				t.Errorf("got  %v\nwant %s", err, row.err)
			}
			if diff := cmp.Diff(row.warnings, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("warnings, -want +got:\n%s", diff)
			}
		})
	}
}

func TestSubresourcesAndOtherResourcesAreNotValidated(t *testing.T) {
	plugin := newTestPlugin(t, nil, map[string]string{"pod-security.kubernetes.io/enforce": "baseline"})
	if err := plugin.Validate(t.Context(), attributes(newBox(privileged), newBox(), "status"), nil); err != nil {
		t.Errorf("a status: %v", err)
	}
	other := admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{}, "default", "web",
		modelv1.SchemeGroupVersion.WithResource("others"), "", admission.Create, nil, false, &user.DefaultInfo{})
	if err := plugin.Validate(t.Context(), other, nil); err != nil {
		t.Errorf("another resource: %v", err)
	}
}

// The plugin has the configuration of the plugin of kube-apiserver.
func TestConfiguration(t *testing.T) {
	const config = `
apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: {enforce: baseline}
`
	for _, row := range []struct {
		name, config string
		isRefused    bool
	}{
		{"a default for namespaces without labels", config, true},
		{"a namespace that is exempt", config + "exemptions: {namespaces: [default]}", false},
		{"a user who is exempt", config + "exemptions: {usernames: [jane]}", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			plugin := newTestPlugin(t, strings.NewReader(row.config), nil)
			if err := plugin.Validate(t.Context(), attributes(newBox(privileged), nil, ""), nil); apierrors.IsForbidden(err) != row.isRefused {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := newPlugin(strings.NewReader("{}")); err == nil {
		t.Error("what is no PodSecurityConfiguration is taken for one")
	}
}
