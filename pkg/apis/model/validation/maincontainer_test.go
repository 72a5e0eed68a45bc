// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// The fields of the main container have the rules of package core/validation, and their own paths.
func TestMainContainer(t *testing.T) {
	env := func(vars ...corev1.EnvVar) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.Envs = vars }
	}
	mount := func(box *model.ModelBox) {
		box.Spec.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	}
	fromFile := env(corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: "data", Path: "a", Key: "A"}}})
	overlaidVolume := func(source corev1.VolumeSource) func(*model.ModelBox) {
		return overlayPod(func(spec *corev1.PodSpec) { spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: source}} })
	}
	check(t, []row{
		{"the main container has a name", func(box *model.ModelBox) { box.Spec.Name = "" }, []string{"Required value: spec.name"}},
		{"the main container's name is a DNS label", func(box *model.ModelBox) { box.Spec.Name = "a.b" }, []string{"Invalid value: spec.name"}},
		{"the main container's name may start with a digit", func(box *model.ModelBox) { box.Spec.Name = "1web" }, nil},
		{"a container's port may have the name of one of the box's", container(func(c *corev1.Container) { c.Ports[0].Name = "http" }), nil},
		{"the main container's image is validated", func(box *model.ModelBox) { box.Spec.Image = "a b" }, []string{"Invalid value: spec.image"}},
		{"the main container has an image", func(box *model.ModelBox) { box.Spec.Image = "" }, []string{"Required value: spec.image"}},
		{"the main container's variables are validated", env(corev1.EnvVar{Name: "A="}), []string{"Invalid value: spec.envs[0].name"}},
		{"the main container's sources of variables are validated", func(box *model.ModelBox) { box.Spec.EnvFrom = []corev1.EnvFromSource{{}} },
			[]string{"Required value: spec.envFrom[0]"}},
		{"the main container's probes are validated", func(box *model.ModelBox) {
			box.Spec.ReadinessProbe, box.Spec.LivenessProbe, box.Spec.StartupProbe = &corev1.Probe{}, &corev1.Probe{}, &corev1.Probe{}
		}, []string{"Required value: spec.readinessProbe", "Required value: spec.livenessProbe", "Required value: spec.startupProbe"}},
		{"the main container mounts a volume of the box", all(mount, volume(emptyDir())), nil},
		{"the main container mounts a volume of the overlay", all(mount, overlaidVolume(emptyDir())), nil},
		{"the main container mounts no other volume", mount, []string{"Not found: spec.volumeMounts[0].name"}},
		{"a volume of the box is what the overlay makes of it", all(fromFile, volume(emptyDir()), overlaidVolume(claim())),
			[]string{"Invalid value: spec.envs[0].valueFrom.fileKeyRef.volumeName"}},
		{"a volume of the box stays what it is if the overlay says nothing", all(fromFile, volume(emptyDir()), overlaidVolume(corev1.VolumeSource{})), nil},
	})
}

func TestMainContainerProbePortNames(t *testing.T) {
	liveness := func(handler corev1.ProbeHandler) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.LivenessProbe = &corev1.Probe{ProbeHandler: handler} }
	}
	tcpSocket := func(port intstr.IntOrString) corev1.ProbeHandler {
		return corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}
	}
	check(t, []row{
		{"a probe names a port of the box", liveness(tcpSocket(intstr.FromString("http"))), nil},
		{"a probe names the first of the ports that lead to its target",
			all(ports(servicePort("one", 80, 8080), servicePort("two", 81, 8080)), liveness(tcpSocket(intstr.FromString("two")))),
			[]string{"Invalid value: spec.livenessProbe.tcpSocket.port"}},
		{"a probe does not name a port whose name is too long for a container",
			all(port(func(p *corev1.ServicePort) { p.Name = "name-of-more-than-15" }), liveness(tcpSocket(intstr.FromString("name")))),
			[]string{"Invalid value: spec.livenessProbe.tcpSocket.port"}},
	})
}

func TestDisabledDefaultProbes(t *testing.T) {
	disabled := func(probes ...model.DefaultProbe) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.DisabledDefaultProbes = probes }
	}
	check(t, []row{
		{"each default probe is switched off", disabled("Readiness", "Liveness", "Startup"), nil},
		{"a default probe is switched off once", disabled("Startup", "Startup"), []string{"Duplicate value: spec.disabledDefaultProbes[1]"}},
		{"a probe that there is not is not switched off", disabled("startup"), []string{"Unsupported value: spec.disabledDefaultProbes[0]"}},
	})
}

func TestResourceType(t *testing.T) {
	oneCPU := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	negative := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("-1")}
	check(t, []row{
		{"a class is accepted", func(box *model.ModelBox) { box.Spec.ResourceType = model.ResourceTypeLarge }, nil},
		{"a class is one of those there are", func(box *model.ModelBox) { box.Spec.ResourceType = "huge" }, []string{"Unsupported value: spec.resourceType"}},
		{"an unknown class says nothing of resources", func(box *model.ModelBox) {
			box.Spec.ResourceType, box.Spec.Resources = "huge", &corev1.ResourceRequirements{Limits: oneCPU}
		}, []string{"Unsupported value: spec.resourceType"}},
		{"a class there is", func(box *model.ModelBox) { box.Spec.ResourceType = "" }, []string{"Required value: spec.resourceType"}},
		{"a class leaves no choice of resources", func(box *model.ModelBox) {
			box.Spec.ResourceType, box.Spec.Resources = model.ResourceTypeSmall, &corev1.ResourceRequirements{Limits: oneCPU}
		}, []string{"Forbidden: spec.resources"}},
		{"resources are validated", func(box *model.ModelBox) { box.Spec.Resources = &corev1.ResourceRequirements{Limits: negative} },
			[]string{"Invalid value: spec.resources.limits[cpu]"}},
	})
}

func TestSelectorLabelOfPodTemplate(t *testing.T) {
	for _, row := range []struct {
		name   string
		labels map[string]string
		want   []string
	}{
		{"the label that selects the pods is there", map[string]string{"modelbox": "web"}, nil},
		{"the label that selects the pods is kept", nil, []string{"Invalid value: spec.podTemplate.metadata.labels[modelbox]"}},
		{"the label that selects the pods is that of the box", map[string]string{"modelbox": "other"}, []string{"Invalid value: spec.podTemplate.metadata.labels[modelbox]"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			template := &corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: row.labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.7.9"}}},
			}
			errs := ValidatePodTemplate(t.Context(), template, "web", field.NewPath("spec", "podTemplate"))
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}
