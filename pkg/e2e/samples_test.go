// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// samples says for each file what its boxes promise, beside becoming Ready.
var samples = []struct {
	file    string
	boxes   []string
	promise func(n *namespace)
}{
	{"containers.yaml", []string{"containers-sample"}, containersAreInOrder},
	{"rolling-update.yaml", []string{"rolling-share", "rolling-number", "rolling-limits", "rolling-recreate"}, rolloutsMoveInSteps},
	{"resources.yaml", []string{"size-small", "size-medium", "size-large", "size-custom"}, containersHaveTheirSize},
	{"services.yaml", []string{"reach-clusterip", "reach-nodeport", "reach-headless", "reach-same-pod"}, servicesLeadToTheirPorts},
	{"probes.yaml", []string{"probes-default", "probes-own", "probes-disabled", "probes-without-liveness"}, containersHaveTheirProbes},
}

func TestSamples(t *testing.T) {
	t.Parallel()
	for _, sampled := range samples {
		t.Run(sampled.file, func(t *testing.T) {
			t.Parallel()
			n := newNamespace(t)
			n.kubectl("apply", "--filename="+sample(sampled.file))
			for _, box := range sampled.boxes {
				n.awaitReady(box)
			}
			sampled.promise(n)
		})
	}
}

func TestEverySampleIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{"modelbox.yaml": true}
	for _, sampled := range samples {
		tested[sampled.file] = true
	}
	files, err := filepath.Glob(sample("*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !tested[filepath.Base(file)] {
			t.Errorf("nothing applies %s", filepath.Base(file))
		}
	}
}

func containersAreInOrder(n *namespace) {
	pod := n.deployment("containers-sample").Spec.Template.Spec
	expectEqual(n.t, "containers", []string{"web", "exporter"}, namesOf(pod.Containers))
	expectEqual(n.t, "init containers", []string{"fetch-content", "proxy"}, namesOf(pod.InitContainers))
	expectEqual(n.t, "restartPolicy of the job", (*corev1.ContainerRestartPolicy)(nil), pod.InitContainers[0].RestartPolicy)
	expectEqual(n.t, "restartPolicy of the sidecar", ptr.To(corev1.ContainerRestartPolicyAlways), pod.InitContainers[1].RestartPolicy)
	expectEqual(n.t, "mounts of the application",
		[]corev1.VolumeMount{{Name: "content", MountPath: "/usr/share/nginx/html", ReadOnly: true}}, pod.Containers[0].VolumeMounts)
	expectEqual(n.t, "mounts of the job",
		[]corev1.VolumeMount{{Name: "content", MountPath: "/content"}}, pod.InitContainers[0].VolumeMounts)
	expectEqual(n.t, "volumes",
		[]corev1.Volume{{Name: "content", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}, pod.Volumes)
	for _, beside := range []corev1.Container{pod.Containers[1], pod.InitContainers[0], pod.InitContainers[1]} {
		if beside.ReadinessProbe != nil || beside.LivenessProbe != nil || beside.StartupProbe != nil {
			n.t.Errorf("container %s got probes that nobody asked for", beside.Name)
		}
	}
}

func namesOf(containers []corev1.Container) []string {
	var names []string
	for _, container := range containers {
		names = append(names, container.Name)
	}
	return names
}

func rolloutsMoveInSteps(n *namespace) {
	for _, want := range []struct {
		box             string
		step            intstr.IntOrString
		minReadySeconds int32
	}{
		{"rolling-share", intstr.FromString("50%"), 3},
		{"rolling-number", intstr.FromInt32(1), 5},
	} {
		spec := n.deployment(want.box).Spec
		expectEqual(n.t, want.box+": maxSurge", &want.step, spec.Strategy.RollingUpdate.MaxSurge)
		expectEqual(n.t, want.box+": maxUnavailable", &want.step, spec.Strategy.RollingUpdate.MaxUnavailable)
		expectEqual(n.t, want.box+": minReadySeconds", want.minReadySeconds, spec.MinReadySeconds)
	}
	expectEqual(n.t, "rolling-limits: strategy", rollingUpdateOfDeployment(intstr.FromInt32(1), intstr.FromInt32(0)), n.deployment("rolling-limits").Spec.Strategy)
	expectEqual(n.t, "rolling-recreate: strategy", appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, n.deployment("rolling-recreate").Spec.Strategy)
}

func containersHaveTheirSize(n *namespace) {
	both := func(cpu, memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: resources(cpu, memory), Limits: resources(cpu, memory)}
	}
	for box, want := range map[string]corev1.ResourceRequirements{
		"size-small":  both("1", "2Gi"),
		"size-medium": both("2", "4Gi"),
		"size-large":  both("4", "8Gi"),
		"size-custom": {Requests: resources("100m", "64Mi"), Limits: resources("", "128Mi")},
	} {
		expectEqual(n.t, box+": resources", want, n.deployment(box).Spec.Template.Spec.Containers[0].Resources)
	}
}

// resources is a list of both. Empty leaves one out.
func resources(cpu, memory string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, quantity := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		if quantity != "" {
			list[name] = resource.MustParse(quantity)
		}
	}
	return list
}

func servicesLeadToTheirPorts(n *namespace) {
	clusterIP := n.service("reach-clusterip").Spec
	expectEqual(n.t, "ClusterIP: type", corev1.ServiceTypeClusterIP, clusterIP.Type)
	expectEqual(n.t, "ClusterIP: ports", []corev1.ServicePort{
		{Name: "https", Port: 443, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("tls")},
		{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)},
	}, clusterIP.Ports)
	expectEqual(n.t, "ClusterIP: ports of the main container",
		[]corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
		n.deployment("reach-clusterip").Spec.Template.Spec.Containers[0].Ports)

	nodePort := n.service("reach-nodeport").Spec
	expectEqual(n.t, "NodePort: type", corev1.ServiceTypeNodePort, nodePort.Type)
	expectEqual(n.t, "NodePort: ports", []corev1.ServicePort{
		{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP, TargetPort: intstr.FromInt32(53), NodePort: 30053},
		{Name: "dns-tcp", Port: 53, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(53), NodePort: 30053},
	}, nodePort.Ports)

	headless := n.service("reach-headless").Spec
	expectEqual(n.t, "Headless: type", corev1.ServiceTypeClusterIP, headless.Type)
	expectEqual(n.t, "Headless: address", corev1.ClusterIPNone, headless.ClusterIP)

	samePod := n.service("reach-same-pod")
	expectEqual(n.t, "options: session affinity", corev1.ServiceAffinityClientIP, samePod.Spec.SessionAffinity)
	expectEqual(n.t, "options: annotation of the Service", "public", samePod.Annotations["example.com/pool"])
	expectEqual(n.t, "options: label of everything", []string{"shop", "shop"},
		[]string{samePod.Labels["team"], n.deployment("reach-same-pod").Spec.Template.Labels["team"]})

	// There is no load balancer here, so the box says what it waits for, while all else is done.
	waiting := n.awaitBox("reach-loadbalancer", "waits for its load balancer", func(box *modelv1.ModelBox) error {
		return hasCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonLoadBalancerPending)
	})
	if err := hasCondition(waiting, modelv1.ConditionApplied, metav1.ConditionTrue, ""); err != nil {
		n.t.Errorf("LoadBalancer: %v", err)
	}
	expectEqual(n.t, "LoadBalancer: type", corev1.ServiceTypeLoadBalancer, n.service("reach-loadbalancer").Spec.Type)
	expectEqual(n.t, "LoadBalancer: ready pods", int32(1), waiting.Status.ReadyReplicas)
}

func containersHaveTheirProbes(n *namespace) {
	main := func(box string) corev1.Container { return n.deployment(box).Spec.Template.Spec.Containers[0] }
	port80 := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}

	injected := main("probes-default")
	expectEqual(n.t, "default: readiness", port80, orEmpty(injected.ReadinessProbe).ProbeHandler)
	expectEqual(n.t, "default: liveness", port80, orEmpty(injected.LivenessProbe).ProbeHandler)
	startup := orEmpty(injected.StartupProbe)
	expectEqual(n.t, "default: startup", port80, startup.ProbeHandler)
	expectEqual(n.t, "default: seconds to start", int32(300), startup.PeriodSeconds*startup.FailureThreshold)

	own := main("probes-own")
	expectEqual(n.t, "own: readiness", corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(80), Scheme: corev1.URISchemeHTTP},
	}, orEmpty(own.ReadinessProbe).ProbeHandler)
	expectEqual(n.t, "own: readiness period", int32(2), orEmpty(own.ReadinessProbe).PeriodSeconds)
	expectEqual(n.t, "own: liveness", corev1.ProbeHandler{
		Exec: &corev1.ExecAction{Command: []string{"cat", "/tmp/alive"}},
	}, orEmpty(own.LivenessProbe).ProbeHandler)
	expectEqual(n.t, "own: liveness delay", int32(30), orEmpty(own.LivenessProbe).InitialDelaySeconds)
	expectEqual(n.t, "own: startup, which only comes with an injected liveness", (*corev1.Probe)(nil), own.StartupProbe)

	disabled := main("probes-disabled")
	expectEqual(n.t, "disabled: probes", []*corev1.Probe{nil, nil, nil},
		[]*corev1.Probe{disabled.ReadinessProbe, disabled.LivenessProbe, disabled.StartupProbe})

	without := main("probes-without-liveness")
	expectEqual(n.t, "without liveness: readiness", port80, orEmpty(without.ReadinessProbe).ProbeHandler)
	expectEqual(n.t, "without liveness: the others", []*corev1.Probe{nil, nil}, []*corev1.Probe{without.LivenessProbe, without.StartupProbe})
}

// orEmpty is the probe, or one that checks nothing where there is none.
func orEmpty(probe *corev1.Probe) corev1.Probe { return ptr.Deref(probe, corev1.Probe{}) }
