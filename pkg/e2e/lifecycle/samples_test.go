// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// samples has the checks of the boxes in each file, in addition to Ready.
var samples = []struct {
	file    string
	boxes   []string
	promise func(n *framework.Namespace)
}{
	{"containers.yaml", []string{"containers-sample"}, containersAreInOrder},
	{"rolling-update.yaml", []string{"rolling-share", "rolling-number", "rolling-limits", "rolling-recreate"}, rolloutsMoveInSteps},
	{"rollouts.yaml", []string{"rollout-back", "rollout-pause", "rollout-canary", "rollout-blue-green", "rollout-job"}, rolloutsAreComplete},
	{"resources.yaml", []string{"size-small", "size-medium", "size-large", "size-custom"}, containersHaveTheirSize},
	{"services.yaml", []string{"reach-clusterip", "reach-nodeport", "reach-headless", "reach-same-pod"}, servicesLeadToTheirPorts},
	{"configs.yaml", []string{"configured"}, filesAreInConfigMaps},
	{"networks.yaml", []string{"networks-sample"}, podsAskForNetworks},
	{"workloads.yaml", []string{"workload-statefulset", "workload-daemonset", "workload-job", "workload-cronjob"}, podsAreThoseOfTheirWorkload},
	{"storage.yaml", []string{"storage-cache", "storage-database"}, claimsAreBoundAndRetained},
	{"ingress.yaml", []string{"shop", "shop-api"}, ingressesLeadToTheirPorts},
	{"autoscaling.yaml", []string{"autoscaled"}, podsAreScaledAndKept},
	{"networkpolicy.yaml", []string{"guarded"}, connectionsAreRestricted},
	{"resize.yaml", []string{"resized"}, podsOfSampleAreResized},
	{"references.yaml", []string{"restarted"}, podsHaveHashesOfTheirReferences},
	{"probes.yaml", []string{"probes-default", "probes-own", "probes-disabled", "probes-without-liveness"}, containersHaveTheirProbes},
}

// claimsOfSamples are the claims that need volumes, because the cluster has no default storage class and no provisioner.
var claimsOfSamples = map[string][]string{
	"storage.yaml": {"storage-cache-data", "data-storage-database-0", "data-storage-database-1"},
}

func TestSamplesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	for _, sampled := range samples {
		t.Run(sampled.file, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			for _, claim := range claimsOfSamples[sampled.file] {
				n.CreateVolumeFor(claim)
			}
			n.Kubectl.Run("apply", "--filename="+framework.Sample(sampled.file))
			for _, box := range sampled.boxes {
				n.AwaitReady(box)
			}
			sampled.promise(n)
		})
	}
}

func TestEverySampleOfBoxesIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{"modelbox.yaml": true}
	for _, sampled := range samples {
		tested[sampled.file] = true
	}
	files, err := filepath.Glob(framework.Sample("*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("kind: ModelBox")) && !tested[filepath.Base(file)] {
			t.Errorf("nothing applies %s", filepath.Base(file))
		}
	}
}

func connectionsAreRestricted(n *framework.Namespace) {
	policy, err := n.ControlPlane.KubeClient.NetworkingV1().NetworkPolicies(n.Name).Get(n.Ctx, "guarded", metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	framework.ExpectEqual(n.T, "pods of the policy", map[string]string{modelv1.SelectorLabel: "guarded"}, policy.Spec.PodSelector.MatchLabels)
	framework.ExpectEqual(n.T, "directions", []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}, policy.Spec.PolicyTypes)
	framework.ExpectEqual(n.T, "pods that connect", "web", policy.Spec.Ingress[0].From[0].PodSelector.MatchLabels[modelv1.SelectorLabel])
}

func rolloutsAreComplete(n *framework.Namespace) {
	for _, name := range []string{"rollout-back", "rollout-pause", "rollout-canary", "rollout-blue-green", "rollout-job"} {
		framework.ExpectEqual(n.T, name+": phase", modelv1.RolloutComplete, n.GetBox(name).Status.Rollout.Phase)
	}
}

func ingressesLeadToTheirPorts(n *framework.Namespace) {
	shop := n.AwaitIngress("shop", "has its hosts", hasHosts("shop.example.com", "www.shop.example.com"))
	framework.ExpectEqual(n.T, "certificate", "shop-tls", shop.Spec.TLS[0].SecretName)
	framework.ExpectEqual(n.T, "port of the further path", int32(9113), shop.Spec.Rules[0].HTTP.Paths[1].Backend.Service.Port.Number)
	api := n.AwaitIngress("shop-api", "has its host", hasHosts("shop.example.com"))
	framework.ExpectEqual(n.T, "path", "/api", api.Spec.Rules[0].HTTP.Paths[0].Path)
}

func podsHaveHashesOfTheirReferences(n *framework.Namespace) {
	n.T.Helper()
	if template := n.GetDeployment("restarted").Spec.Template; template.Annotations[modelv1.ReferencesAnnotation] == "" || n.GetDeployment("restarted").Generation != 1 {
		n.T.Errorf("the Deployment of a new box has generation %d and the annotations %v, want the hashes at once", n.GetDeployment("restarted").Generation, template.Annotations)
	}
}

func claimsAreBoundAndRetained(n *framework.Namespace) {
	for _, claim := range claimsOfSamples["storage.yaml"] {
		n.AwaitBoundClaim(claim)
	}
	n.Kubectl.Run("delete", "mb", "storage-cache", "storage-database")
	n.AwaitNoClaim("storage-cache-data")
	n.AwaitBoundClaim("data-storage-database-1")
}

func podsAreScaledAndKept(n *framework.Namespace) {
	n.Kubectl.Run("wait", "hpa/autoscaled", "--for=condition=AbleToScale", "--timeout=5m")
	n.Kubectl.Run("wait", "pdb/autoscaled", "--for=condition=DisruptionAllowed", "--timeout=5m")
}

func containersAreInOrder(n *framework.Namespace) {
	pod := n.GetDeployment("containers-sample").Spec.Template.Spec
	framework.ExpectEqual(n.T, "containers", []string{"web", "exporter"}, framework.ContainerNames(pod.Containers))
	framework.ExpectEqual(n.T, "init containers", []string{"fetch-content", "proxy"}, framework.ContainerNames(pod.InitContainers))
	framework.ExpectEqual(n.T, "restartPolicy of the job", (*corev1.ContainerRestartPolicy)(nil), pod.InitContainers[0].RestartPolicy)
	framework.ExpectEqual(n.T, "restartPolicy of the sidecar", ptr.To(corev1.ContainerRestartPolicyAlways), pod.InitContainers[1].RestartPolicy)
	framework.ExpectEqual(n.T, "mounts of the application",
		[]corev1.VolumeMount{{Name: "content", MountPath: "/usr/share/nginx/html", ReadOnly: true}}, pod.Containers[0].VolumeMounts)
	framework.ExpectEqual(n.T, "mounts of the job",
		[]corev1.VolumeMount{{Name: "content", MountPath: "/content"}}, pod.InitContainers[0].VolumeMounts)
	framework.ExpectEqual(n.T, "volumes",
		[]corev1.Volume{{Name: "content", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}, pod.Volumes)
	for _, beside := range []corev1.Container{pod.Containers[1], pod.InitContainers[0], pod.InitContainers[1]} {
		if beside.ReadinessProbe != nil || beside.LivenessProbe != nil || beside.StartupProbe != nil {
			n.T.Errorf("container %s got probes that the box does not have", beside.Name)
		}
	}
}

func rolloutsMoveInSteps(n *framework.Namespace) {
	for _, want := range []struct {
		box             string
		step            intstr.IntOrString
		minReadySeconds int32
	}{
		{"rolling-share", intstr.FromString("50%"), 3},
		{"rolling-number", intstr.FromInt32(1), 5},
	} {
		spec := n.GetDeployment(want.box).Spec
		framework.ExpectEqual(n.T, want.box+": maxSurge", &want.step, spec.Strategy.RollingUpdate.MaxSurge)
		framework.ExpectEqual(n.T, want.box+": maxUnavailable", &want.step, spec.Strategy.RollingUpdate.MaxUnavailable)
		framework.ExpectEqual(n.T, want.box+": minReadySeconds", want.minReadySeconds, spec.MinReadySeconds)
	}
	framework.ExpectEqual(n.T, "rolling-limits: strategy", rollingUpdateOfDeployment(intstr.FromInt32(1), intstr.FromInt32(0)), n.GetDeployment("rolling-limits").Spec.Strategy)
	framework.ExpectEqual(n.T, "rolling-recreate: strategy", appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, n.GetDeployment("rolling-recreate").Spec.Strategy)
}

func containersHaveTheirSize(n *framework.Namespace) {
	both := func(cpu, memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: framework.Resources(cpu, memory), Limits: framework.Resources(cpu, memory)}
	}
	for box, want := range map[string]corev1.ResourceRequirements{
		"size-small":  both("1", "2Gi"),
		"size-medium": both("2", "4Gi"),
		"size-large":  both("4", "8Gi"),
		"size-custom": {Requests: framework.Resources("100m", "64Mi"), Limits: framework.Resources("", "128Mi")},
	} {
		framework.ExpectEqual(n.T, box+": resources", want, n.GetDeployment(box).Spec.Template.Spec.Containers[0].Resources)
	}
}

func servicesLeadToTheirPorts(n *framework.Namespace) {
	clusterIP := n.GetService("reach-clusterip").Spec
	framework.ExpectEqual(n.T, "ClusterIP: type", corev1.ServiceTypeClusterIP, clusterIP.Type)
	framework.ExpectEqual(n.T, "ClusterIP: ports", []corev1.ServicePort{
		{Name: "https", Port: 443, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("tls")},
		{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)},
	}, clusterIP.Ports)
	framework.ExpectEqual(n.T, "ClusterIP: ports of the main container",
		[]corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
		n.GetDeployment("reach-clusterip").Spec.Template.Spec.Containers[0].Ports)

	nodePort := n.GetService("reach-nodeport").Spec
	framework.ExpectEqual(n.T, "NodePort: type", corev1.ServiceTypeNodePort, nodePort.Type)
	framework.ExpectEqual(n.T, "NodePort: ports", []corev1.ServicePort{
		{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP, TargetPort: intstr.FromInt32(53), NodePort: 30053},
		{Name: "dns-tcp", Port: 53, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(53), NodePort: 30053},
	}, nodePort.Ports)

	headless := n.GetService("reach-headless").Spec
	framework.ExpectEqual(n.T, "Headless: type", corev1.ServiceTypeClusterIP, headless.Type)
	framework.ExpectEqual(n.T, "Headless: address", corev1.ClusterIPNone, headless.ClusterIP)

	samePod := n.GetService("reach-same-pod")
	framework.ExpectEqual(n.T, "options: session affinity", corev1.ServiceAffinityClientIP, samePod.Spec.SessionAffinity)
	framework.ExpectEqual(n.T, "options: annotation of the Service", "public", samePod.Annotations["example.com/pool"])
	framework.ExpectEqual(n.T, "options: label of everything", []string{"shop", "shop"},
		[]string{samePod.Labels["team"], n.GetDeployment("reach-same-pod").Spec.Template.Labels["team"]})

	// The cluster has no load balancer, so that the status of the box reports that it waits for an address.
	waiting := n.AwaitBox("reach-loadbalancer", "waits for its load balancer", func(box *modelv1.ModelBox) error {
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonLoadBalancerPending)
	})
	if err := framework.CheckCondition(waiting, modelv1.ConditionApplied, metav1.ConditionTrue, ""); err != nil {
		n.T.Errorf("LoadBalancer: %v", err)
	}
	framework.ExpectEqual(n.T, "LoadBalancer: type", corev1.ServiceTypeLoadBalancer, n.GetService("reach-loadbalancer").Spec.Type)
	framework.ExpectEqual(n.T, "LoadBalancer: ready pods", int32(1), waiting.Status.ReadyReplicas)
}

func podsAreThoseOfTheirWorkload(n *framework.Namespace) {
	apps := n.ControlPlane.KubeClient.AppsV1()
	statefulSet, err := apps.StatefulSets(n.Name).Get(n.Ctx, "workload-statefulset", metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	framework.ExpectEqual(n.T, "StatefulSet: pods", []string{"workload-statefulset-0", "workload-statefulset-1", "workload-statefulset-2"},
		n.GetBox("workload-statefulset").Status.PodNames)
	framework.ExpectEqual(n.T, "StatefulSet: Service of the names", "workload-statefulset-headless", statefulSet.Spec.ServiceName)
	headless := n.GetService("workload-statefulset-headless").Spec
	framework.ExpectEqual(n.T, "StatefulSet: address of the headless Service", corev1.ClusterIPNone, headless.ClusterIP)
	framework.ExpectEqual(n.T, "StatefulSet: names of pods that are not ready", true, headless.PublishNotReadyAddresses)
	if address := n.GetService("workload-statefulset").Spec.ClusterIP; address == "" || address == corev1.ClusterIPNone {
		n.T.Errorf("StatefulSet: the Service of the box has the address %q", address)
	}

	daemonSet, err := apps.DaemonSets(n.Name).Get(n.Ctx, "workload-daemonset", metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	framework.ExpectEqual(n.T, "DaemonSet: maxUnavailable", ptr.To(intstr.FromInt32(2)), daemonSet.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable)
	nodes, err := n.ControlPlane.KubeClient.CoreV1().Nodes().List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	framework.ExpectEqual(n.T, "DaemonSet: pods", len(nodes.Items), len(n.GetBox("workload-daemonset").Status.PodNames))

	batch := n.ControlPlane.KubeClient.BatchV1()
	job, err := batch.Jobs(n.Name).Get(n.Ctx, "workload-job", metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	framework.ExpectEqual(n.T, "Job: indexes that have succeeded", "0-5", job.Status.CompletedIndexes)
	cronJob, err := batch.CronJobs(n.Name).Get(n.Ctx, "workload-cronjob", metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	framework.ExpectEqual(n.T, "CronJob: schedule", "30 2 * * * of Europe/Berlin", cronJob.Spec.Schedule+" of "+*cronJob.Spec.TimeZone)
}

func containersHaveTheirProbes(n *framework.Namespace) {
	main := func(box string) corev1.Container { return n.GetDeployment(box).Spec.Template.Spec.Containers[0] }
	port80 := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}

	injected := main("probes-default")
	framework.ExpectEqual(n.T, "default: readiness", port80, orEmpty(injected.ReadinessProbe).ProbeHandler)
	framework.ExpectEqual(n.T, "default: liveness", port80, orEmpty(injected.LivenessProbe).ProbeHandler)
	startup := orEmpty(injected.StartupProbe)
	framework.ExpectEqual(n.T, "default: startup", port80, startup.ProbeHandler)
	framework.ExpectEqual(n.T, "default: seconds to start", int32(300), startup.PeriodSeconds*startup.FailureThreshold)

	own := main("probes-own")
	framework.ExpectEqual(n.T, "own: readiness", corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(80), Scheme: corev1.URISchemeHTTP},
	}, orEmpty(own.ReadinessProbe).ProbeHandler)
	framework.ExpectEqual(n.T, "own: readiness period", int32(2), orEmpty(own.ReadinessProbe).PeriodSeconds)
	framework.ExpectEqual(n.T, "own: liveness", corev1.ProbeHandler{
		Exec: &corev1.ExecAction{Command: []string{"cat", "/tmp/alive"}},
	}, orEmpty(own.LivenessProbe).ProbeHandler)
	framework.ExpectEqual(n.T, "own: liveness delay", int32(30), orEmpty(own.LivenessProbe).InitialDelaySeconds)
	framework.ExpectEqual(n.T, "own: startup, which only comes with an injected liveness", (*corev1.Probe)(nil), own.StartupProbe)

	disabled := main("probes-disabled")
	framework.ExpectEqual(n.T, "disabled: probes", []*corev1.Probe{nil, nil, nil},
		[]*corev1.Probe{disabled.ReadinessProbe, disabled.LivenessProbe, disabled.StartupProbe})

	without := main("probes-without-liveness")
	framework.ExpectEqual(n.T, "without liveness: readiness", port80, orEmpty(without.ReadinessProbe).ProbeHandler)
	framework.ExpectEqual(n.T, "without liveness: the others", []*corev1.Probe{nil, nil}, []*corev1.Probe{without.LivenessProbe, without.StartupProbe})
}

// orEmpty returns the probe, or an empty probe for nil.
func orEmpty(probe *corev1.Probe) corev1.Probe { return ptr.Deref(probe, corev1.Probe{}) }

func filesAreInConfigMaps(n *framework.Namespace) {
	for name, files := range map[string]map[string]string{
		"configured":       {"web.conf": "workers 4;\n"},
		"configured-flags": {"flags.yaml": "dark: true\n"},
	} {
		configMap, err := n.ControlPlane.KubeClient.CoreV1().ConfigMaps(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
		if err != nil {
			n.T.Fatal(err)
		}
		framework.ExpectEqual(n.T, "files of "+name, files, configMap.Data)
	}
	mounts := map[string]string{}
	for _, mount := range n.GetDeployment("configured").Spec.Template.Spec.Containers[0].VolumeMounts {
		mounts[mount.Name] = mount.MountPath
	}
	framework.ExpectEqual(n.T, "mounts", map[string]string{"config": "/etc/web", "config-flags": "/etc/flags"}, mounts)
}

func podsAskForNetworks(n *framework.Namespace) {
	n.T.Helper()
	framework.ExpectEqual(n.T, "networks of the pods", "lan", n.GetDeployment("networks-sample").Spec.Template.Annotations["k8s.v1.cni.cncf.io/networks"])
	network, err := n.ControlPlane.ModelClient.ModelV1().Networks(n.Name).Get(n.Ctx, "lan", metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	framework.ExpectEqual(n.T, "type of the network", modelv1.NetworkTypeBridge, network.Spec.Type)
}
