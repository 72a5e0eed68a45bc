// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// validateUpdate returns the errors of an update from old to box, as the strategy of boxes joins them.
func validateUpdate(ctx context.Context, box, old *model.ModelBox) field.ErrorList {
	return append(ValidateModelBoxMetaUpdate(box, old), ValidateModelBoxSpecUpdate(ctx, box, old, ObjectPaths.Spec)...)
}

func TestBox(t *testing.T) {
	check(t, []row{
		{"a box with an image and a port is accepted", func(*model.ModelBox) {}, nil},
		{"a box without ports is accepted", ports(), nil},
		{"a paused box is accepted", func(box *model.ModelBox) { box.Spec.Paused = true }, nil},
		{"a name of 63 characters is accepted", func(box *model.ModelBox) { box.Name = strings.Repeat("a", 63) }, nil},
		{"a name of 64 characters is no label value", func(box *model.ModelBox) { box.Name = strings.Repeat("a", 64) },
			[]string{"Invalid value: metadata.name"}},
		{"a name with a dot is no Service name", func(box *model.ModelBox) { box.Name = "web.example" },
			[]string{"Invalid value: metadata.name"}},
		{"a name that starts with a digit is no Service name", func(box *model.ModelBox) { box.Name = "1web" },
			[]string{"Invalid value: metadata.name"}},
		{"a box has a name", func(box *model.ModelBox) { box.Name = "" }, []string{"Required value: metadata.name"}},
		{"a box has a namespace", func(box *model.ModelBox) { box.Namespace = "" }, []string{"Required value: metadata.namespace"}},
		{"a label value is a label value", func(box *model.ModelBox) { box.Labels = map[string]string{"tier": "a b"} },
			[]string{"Invalid value: metadata.labels"}},
		{"an annotation key is qualified", func(box *model.ModelBox) { box.Annotations = map[string]string{"a b": ""} },
			[]string{"Invalid value: metadata.annotations"}},

		{"a finalizer with a domain is accepted", finalizers("example.com/keep"), nil},
		{"Kubernetes' own finalizers need no domain", finalizers("foregroundDeletion", "kubernetes"), nil},
		{"a finalizer without a domain is refused", finalizers("example.com/keep", "keep"), []string{"Invalid value: metadata.finalizers[1]"}},

		{"serviceType may be left to the ports", func(box *model.ModelBox) { box.Spec.ServiceType = "" }, nil},
		{"serviceType Headless is accepted", func(box *model.ModelBox) { box.Spec.ServiceType = model.ServiceTypeHeadless }, nil},
		{"serviceType ExternalName is none of a box", func(box *model.ModelBox) { box.Spec.ServiceType = "ExternalName" },
			[]string{"Unsupported value: spec.serviceType"}},
		{"defaultProbes Disabled is accepted", func(box *model.ModelBox) { box.Spec.DefaultProbes = model.DefaultProbesDisabled }, nil},
		{"defaultProbes is Enabled or Disabled", func(box *model.ModelBox) { box.Spec.DefaultProbes = "Off" },
			[]string{"Unsupported value: spec.defaultProbes"}},
		{"defaultProbes is there", func(box *model.ModelBox) { box.Spec.DefaultProbes = "" }, []string{"Required value: spec.defaultProbes"}},

		{"a service account name with dots is accepted", func(box *model.ModelBox) { box.Spec.ServiceAccountName = "team.web" }, nil},
		{"a service account name is a DNS name", func(box *model.ModelBox) { box.Spec.ServiceAccountName = "Web" },
			[]string{"Invalid value: spec.serviceAccountName"}},
		{"pull secrets are accepted", pullSecrets("one", "two"), nil},
		{"a pull secret has a name", pullSecrets(""), []string{"Required value: spec.imagePullSecrets[0].name"}},
		{"a pull secret's name is a DNS name", pullSecrets("Registry"), []string{"Invalid value: spec.imagePullSecrets[0].name"}},
		{"a pull secret is listed once", pullSecrets("one", "one"), []string{"Duplicate value: spec.imagePullSecrets[1].name"}},
	})
}

func finalizers(finalizers ...string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Finalizers = finalizers }
}

func pullSecrets(names ...string) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		for _, name := range names {
			box.Spec.ImagePullSecrets = append(box.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
		}
	}
}

func TestModelBoxNameOfGenerateName(t *testing.T) {
	if messages := ValidateModelBoxName("web-", true); len(messages) > 0 {
		t.Errorf("a generated name may start with %q, got %q", "web-", messages)
	}
	if messages := ValidateModelBoxName("web-", false); len(messages) == 0 {
		t.Errorf("a name may not be %q", "web-")
	}
}

// The messages are the part of the API that people read most: each says what would be right.
func TestMessages(t *testing.T) {
	tests := []struct {
		name   string
		mutate func(*model.ModelBox)
		want   string
	}{
		{"no image", func(box *model.ModelBox) { box.Spec.Image = "" },
			`spec.image: Required value: must name an image, such as "nginx:1.7.9"`},
		{"an image with a scheme", func(box *model.ModelBox) { box.Spec.Image = "http://foo/bar" },
			`spec.image: Invalid value: "http://foo/bar": must name an image, such as "nginx:1.7.9": invalid reference format`},
		{"an image with capitals", func(box *model.ModelBox) { box.Spec.Image = "Nginx" },
			`spec.image: Invalid value: "Nginx": must name an image, such as "nginx:1.7.9": invalid reference format: repository name (library/Nginx) must be lowercase`},
		{"negative replicas", func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](-1) },
			`spec.replicas: Invalid value: -1: must be greater than or equal to 0`},
		{"no rolling step", rollingUpdate(intstr.FromString("0%")),
			`spec.rollingUpdate: Invalid value: "0%": ` + mustBeRollingStep("maxSurge, maxUnavailable or both")},
		{"too large a rolling step", rollingUpdate(intstr.FromString("150%")),
			`spec.rollingUpdate: Invalid value: "150%": ` + mustBeRollingStep("maxSurge, maxUnavailable or both")},
		{"no number as a rolling step", rollingUpdate(intstr.FromString("abc")),
			`spec.rollingUpdate: Invalid value: "abc": ` + mustBeRollingStep("maxSurge, maxUnavailable or both")},
		{"replicas of a DaemonSet", all(workload(model.WorkloadDaemonSet), replicas(2)),
			"spec.replicas: Forbidden: " + MustNotUseReplicasWithDaemonSet},
		{"a StatefulSet that is recreated", all(workload(model.WorkloadStatefulSet), strategy(model.StrategyRecreate)),
			`spec.strategy: Invalid value: "Recreate": ` + mustBeRollingUpdate(model.WorkloadStatefulSet)},
		{"no rolling step of a StatefulSet", all(workload(model.WorkloadStatefulSet), rollingUpdate(intstr.FromString("0%"))),
			`spec.rollingUpdate: Invalid value: "0%": ` + mustBeRollingStep("maxUnavailable")},
		{"the surge of a StatefulSet", all(workload(model.WorkloadStatefulSet), rollingUpdateOf("1", "1")),
			"spec.rollingUpdate.maxSurge: Forbidden: " + mustNotUseMaxSurgeOfStatefulSet},
		{"a surge of a DaemonSet without the other limit", all(workload(model.WorkloadDaemonSet), rollingUpdateOf("1", "")),
			"spec.rollingUpdate.maxUnavailable: Required value: " + mustSetMaxUnavailableTo0},
		{"a port twice", ports(servicePort("one", 80, 80), servicePort("two", 80, 81)),
			`spec.ports[1]: Duplicate value: "80/TCP": spec.ports[0] has it already`},
		{"a node port without a type that has some", all(func(box *model.ModelBox) { box.Spec.ServiceType = model.ServiceTypeClusterIP }, nodePort(30010)),
			"spec.ports[0].nodePort: Forbidden: may not be used when `serviceType` is 'ClusterIP'"},
		{"an unknown size", func(box *model.ModelBox) { box.Spec.ResourceType = "huge" },
			`spec.resourceType: Unsupported value: "huge": supported values: "custom", "large", "medium", "small"`},
		{"a size and resources", func(box *model.ModelBox) {
			box.Spec.ResourceType, box.Spec.Resources = model.ResourceTypeSmall, &corev1.ResourceRequirements{}
		}, "spec.resources: Forbidden: " + mustBeCustomResourceType(model.ResourceTypeSmall)},
		{"a container name twice", container(func(c *corev1.Container) { c.Name = "web" }),
			`spec.containers[0].name: Duplicate value: "web": spec.name has it already`},
		{"an init container without image", initContainer(func(c *corev1.Container) { c.Image = "" }),
			`spec.initContainers[0].image: Required value: must name an image, such as "nginx:1.7.9"`},
		{"a probe with two handlers", func(box *model.ModelBox) {
			box.Spec.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				HTTPGet:   &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)},
				TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)},
			}}
		}, `spec.livenessProbe.tcpSocket: Forbidden: only one may be given, and httpGet is`},
		{"a target port that leads nowhere", port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromString("web") }),
			`spec.ports[0].targetPort: Invalid value: "web": ` + mustBePortNumber(corev1.ProtocolTCP)},
		{"a target port that leads nowhere, where there is a choice", all(container(func(*corev1.Container) {}),
			port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromString("web") })),
			`spec.ports[0].targetPort: Invalid value: "web": ` + mustNamePort(corev1.ProtocolTCP, []string{`"metrics"`})},
		{"a quoted port number", port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromString("8080") }),
			`spec.ports[0].targetPort: Invalid value: "8080": must be a number without quotes, or the name of a container's port`},
		{"a mount without its volume", func(box *model.ModelBox) {
			box.Spec.VolumeMounts = []corev1.VolumeMount{{Name: "other", MountPath: "/data"}}
		},
			`spec.volumeMounts[0].name: Not found: "other": must be the name of one of spec.volumes`},
		{"an overlay that takes the pods away", overlayMeta(metav1.ObjectMeta{Labels: map[string]string{"modelbox": "other"}}),
			`spec.podTemplate.metadata.labels[modelbox]: Invalid value: "other": ` + mustSelectPodsOfBox("web")},
		{"an overlay that names the pods", overlayMeta(metav1.ObjectMeta{Name: "web"}),
			"spec.podTemplate.metadata.name: Forbidden: " + mustNotBeIgnoredByPods},
		{"an overlay with another image", overlayPod(func(spec *corev1.PodSpec) { spec.Containers = []corev1.Container{{Name: "web", Image: "nginx:2"}} }),
			"spec.podTemplate.spec.containers[0].image: Forbidden: " + MustUseImageOfBox},
		{"an overlay for a container that there is not", overlayPod(func(spec *corev1.PodSpec) { spec.Containers = []corev1.Container{{Name: "main"}} }),
			"spec.podTemplate.spec.containers[0].image: Required value: " + MustHaveImage("main", MainContainerIs("web"))},
		{"a hook that outlives its pod", container(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 60}}}
		}), `spec.containers[0].lifecycle.preStop.sleep.seconds: Invalid value: 60: must be between 0 and 30: pods are given 30 seconds to end`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			box := validBox()
			test.mutate(box)
			errs := ValidateModelBox(t.Context(), box)
			if len(errs) != 1 || errs[0].Error() != test.want {
				t.Errorf("got  %v\nwant %s", errs.ToAggregate(), test.want)
			}
		})
	}

	t.Run("a name that cannot be a label value", func(t *testing.T) {
		box := validBox()
		box.Name = strings.Repeat("a", 64)
		errs := ValidateModelBox(t.Context(), box)
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), "63") {
			t.Errorf("got %v, want the limit of 63 characters", errs.ToAggregate())
		}
	})
}

func TestUpdate(t *testing.T) {
	tests := []struct {
		name   string
		old    func(*model.ModelBox)
		change func(*model.ModelBox)
		want   []string
	}{
		{"a new image is accepted", func(*model.ModelBox) {}, func(box *model.ModelBox) { box.Spec.Image = "nginx:1.27" }, nil},
		{"a spec that becomes wrong is refused", func(*model.ModelBox) {}, func(box *model.ModelBox) { box.Spec.Image = "" },
			[]string{"Required value: spec.image"}},
		{"a box of another name is another box", func(*model.ModelBox) {}, func(box *model.ModelBox) { box.Name = "other" },
			[]string{"Invalid value: metadata.name"}},
		{"a spec that was wrong already does not keep a finalizer", noImage, func(box *model.ModelBox) { box.Finalizers = nil }, nil},
		{"a finalizer without a domain is refused", func(*model.ModelBox) {}, finalizers("keep"), []string{"Invalid value: metadata.finalizers[0]"}},
		{"a finalizer without a domain goes", finalizers("other", "keep"), finalizers("keep"), nil},
		{"a spec that was wrong already can be scaled", noImage, func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](0) }, nil},
		{"a spec that was wrong already can be repaired", noImage, func(box *model.ModelBox) { box.Spec.Image = "nginx:1.27" }, nil},
		{"a spec that was wrong already gets no further errors", noImage, func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](-1) },
			[]string{"Invalid value: spec.replicas"}},
		{"a wrong value that a tag refuses stays", replicas(-1), func(box *model.ModelBox) { box.Spec.Image = "nginx:1.27" }, nil},
		{"a wrong value that a tag refuses can be repaired", replicas(-1), replicas(0), nil},
		{"a wrong value that a tag refuses is not replaced by another", replicas(-1), replicas(-2),
			[]string{"Invalid value: spec.replicas"}},
		{"an image in an overlay that was accepted once stays", overlaidImage, func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) }, nil},
		{"an image in an overlay that was accepted once moves to spec.image", overlaidImage, func(box *model.ModelBox) { box.Spec.Image, box.Spec.PodTemplate = "nginx:2", nil }, nil},
		{"a wrong value is not replaced by another wrong value", rollingUpdate(intstr.FromString("0%")), rollingUpdate(intstr.FromString("150%")),
			[]string{"Invalid value: spec.rollingUpdate"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old := validBox()
			old.ResourceVersion, old.Finalizers = "1", []string{"example.com/keep"}
			test.old(old)
			box := old.DeepCopy()
			test.change(box)
			errs := validateUpdate(t.Context(), box, old)
			if got := typesAndFields(errs); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q: %v", got, test.want, errs.ToAggregate())
			}
		})
	}
}

func replicas(count int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Replicas = &count }
}

func overlaidImage(box *model.ModelBox) {
	box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:2"}}}}
}

func noImage(box *model.ModelBox) { box.Spec.Image = "" }

func TestStatusUpdate(t *testing.T) {
	conditions := func(changes ...func(*metav1.Condition)) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			for _, change := range changes {
				ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "RolloutComplete", LastTransitionTime: metav1.NewTime(time.Unix(1, 0))}
				change(&ready)
				box.Status.Conditions = append(box.Status.Conditions, ready)
			}
		}
	}
	same := func(*metav1.Condition) {}
	tests := []row{
		{"an empty status is accepted", func(*model.ModelBox) {}, nil},
		{"counts are accepted", func(box *model.ModelBox) {
			box.Status = model.ModelBoxStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 1, AvailableReplicas: 1}
		}, nil},
		{"the status of a box with a wrong spec can be written", func(box *model.ModelBox) { box.Spec.Image = "" }, nil},
		{"observedGeneration is not negative", func(box *model.ModelBox) { box.Status.ObservedGeneration = -1 }, []string{"Invalid value: status.observedGeneration"}},
		{"replicas is not negative", func(box *model.ModelBox) { box.Status.Replicas = -1 }, []string{"Invalid value: status.replicas"}},
		{"updatedReplicas is not negative", func(box *model.ModelBox) { box.Status.UpdatedReplicas = -1 }, []string{"Invalid value: status.updatedReplicas"}},
		{"readyReplicas is not negative", func(box *model.ModelBox) { box.Status.ReadyReplicas = -1 }, []string{"Invalid value: status.readyReplicas"}},
		{"desiredReplicas is not negative", func(box *model.ModelBox) { box.Status.DesiredReplicas = ptr.To[int32](-1) }, []string{"Invalid value: status.desiredReplicas"}},
		{"availableReplicas is not negative", func(box *model.ModelBox) { box.Status.AvailableReplicas = -1 }, []string{"Invalid value: status.availableReplicas"}},
		{"podNamesOmitted is not negative", func(box *model.ModelBox) { box.Status.PodNamesOmitted = -1 }, []string{"Invalid value: status.podNamesOmitted"}},
		{"conditions of two types are accepted", conditions(same, func(c *metav1.Condition) { c.Type = "Applied" }), nil},
		{"a condition type is listed once", conditions(same, same), []string{"Duplicate value: status.conditions[1]"}},
		{"a condition has a type", conditions(func(c *metav1.Condition) { c.Type = "" }), []string{"Required value: status.conditions[0].type"}},
		{"a condition type is a qualified name", conditions(func(c *metav1.Condition) { c.Type = "a b" }), []string{"Invalid value: status.conditions[0].type"}},
		{"a condition is True, False or Unknown", conditions(func(c *metav1.Condition) { c.Status = "Yes" }), []string{"Unsupported value: status.conditions[0].status"}},
		{"a condition has a reason", conditions(func(c *metav1.Condition) { c.Reason = "" }), []string{"Required value: status.conditions[0].reason"}},
		{"a reason is one word", conditions(func(c *metav1.Condition) { c.Reason = "rollout complete" }), []string{"Invalid value: status.conditions[0].reason"}},
		{"a condition has a time", conditions(func(c *metav1.Condition) { c.LastTransitionTime = metav1.Time{} }), []string{"Required value: status.conditions[0].lastTransitionTime"}},
		{"the name stays", func(box *model.ModelBox) { box.Name = "other" }, []string{"Invalid value: metadata.name"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old := validBox()
			old.ResourceVersion = "1"
			box := old.DeepCopy()
			test.mutate(box)
			errs := ValidateModelBoxStatusUpdate(t.Context(), box, old)
			if got := typesAndFields(errs); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q: %v", got, test.want, errs.ToAggregate())
			}
		})
	}
}

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
		{"the label that selects the pods belongs to the box", map[string]string{"modelbox": "other"}, []string{"Invalid value: spec.podTemplate.metadata.labels[modelbox]"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			template := &corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: row.labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.7.9"}}},
			}
			errs := ValidatePodTemplate(t.Context(), template, &model.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, field.NewPath("spec", "podTemplate"))
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}

// A box is validated with its defaults, but its errors are about the fields that the user wrote.
func TestErrorsAreAboutWhatIsWritten(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	ports := func(ports ...corev1.ServicePort) func(*modelv1.ModelBox) {
		return func(box *modelv1.ModelBox) { box.Spec.Ports = ports }
	}
	named := func(name, mainName string) func(*modelv1.ModelBox) {
		return func(box *modelv1.ModelBox) { box.Name, box.Spec.Name = name, mainName }
	}
	for _, row := range []struct {
		name  string
		write func(*modelv1.ModelBox)
		want  []string
	}{
		{"a bad name", named("Web", ""), []string{"Invalid value: metadata.name"}},
		{"no name", named("", ""), []string{"Required value: metadata.name"}},
		{"a bad name, and a bad name of the main container", named("Web", "Main"), []string{"Invalid value: metadata.name", "Invalid value: spec.name"}},
		{"a bad name of the main container", named("web", "Main"), []string{"Invalid value: spec.name"}},
		{"a port without a number", ports(corev1.ServicePort{}), []string{"Invalid value: spec.ports[0].port"}},
		{"a port above the last", ports(corev1.ServicePort{Port: 65536}), []string{"Invalid value: spec.ports[0].port"}},
		{"a bad port and another bad target port", ports(corev1.ServicePort{Port: 65536, TargetPort: intstr.FromInt32(65537)}),
			[]string{"Invalid value: spec.ports[0].port", "Invalid value: spec.ports[0].targetPort"}},
		{"a port twice", ports(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 80}), []string{"Duplicate value: spec.ports[1]"}},
		{"a port twice, with names", ports(corev1.ServicePort{Name: "a", Port: 80}, corev1.ServicePort{Name: "a", Port: 80}),
			[]string{"Duplicate value: spec.ports[1].name", "Duplicate value: spec.ports[1]"}},
		{"a name that another port gets", ports(corev1.ServicePort{Name: "tcp-81", Port: 80}, corev1.ServicePort{Port: 81}), []string{"Duplicate value: spec.ports[1].name"}},
		{"a bad protocol", ports(corev1.ServicePort{Port: 80, Protocol: "a b"}, corev1.ServicePort{Port: 81}), []string{"Unsupported value: spec.ports[0].protocol"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			written, box := &modelv1.ModelBox{}, &model.ModelBox{}
			written.Namespace, written.Name, written.Spec.Image = "default", "web", "nginx:1.7.9"
			row.write(written)
			scheme.Default(written)
			if err := scheme.Convert(written, box, nil); err != nil {
				t.Fatal(err)
			}
			errs := ValidateModelBox(t.Context(), box)
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}

// TestGoldenBoxesAreValid: what is pinned to be rendered has to be what the server accepts.
func TestGoldenBoxesAreValid(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()

	for _, folder := range []string{"../../../render/modelbox/testdata/*.box.yaml", "../../../../artifacts/samples/*.yaml"} {
		files, err := filepath.Glob(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Errorf("there is no %s", folder)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, document := range strings.Split(string(data), "\n---\n") {
				object, _, err := decoder.Decode([]byte(document), nil, nil)
				if runtime.IsNotRegisteredError(err) {
					continue // It goes with a stack, as a Secret does.
				}
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				box, isBox := object.(*modelv1.ModelBox)
				if !isBox {
					continue
				}
				internal := &model.ModelBox{}
				box.Namespace = metav1.NamespaceDefault
				scheme.Default(box)
				if err := scheme.Convert(box, internal, nil); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				if errs := ValidateModelBox(t.Context(), internal); len(errs) > 0 {
					t.Errorf("%s: box %s: %v", file, box.Name, errs.ToAggregate())
				}
			}
		}
	}
}
