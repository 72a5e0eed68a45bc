// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// change is one of a box: what it has before, and what after.
type change struct {
	name          string
	workload      modelv1.Workload
	before, after func(*modelv1.ModelBoxSpec)
	// pods says what becomes of those that run.
	pods podsOfChange
}

type podsOfChange int

const (
	replaced podsOfChange = iota
	kept
)

// What a change is of.
const (
	deployment  = modelv1.WorkloadDeployment
	statefulSet = modelv1.WorkloadStatefulSet
	daemonSet   = modelv1.WorkloadDaemonSet
)

// changes are those that pairs are made of. Each field of a box is in one of them at least.
var changes = []change{
	{"name", deployment, func(spec *modelv1.ModelBoxSpec) { spec.Name = "old" }, func(spec *modelv1.ModelBoxSpec) { spec.Name = "new" }, replaced},
	{"image", deployment, nothing, framework.WithImage(framework.NewImage), replaced},
	{"image of a StatefulSet", statefulSet, framework.WithReplicas(2), both(framework.WithReplicas(2), framework.WithImage(framework.NewImage)), replaced},
	{"image of a DaemonSet", daemonSet, nothing, framework.WithImage(framework.NewImage), replaced},
	{"command and arguments", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.Command, spec.Args = []string{"run"}, []string{"fast"} }, replaced},
	{"replicas", deployment, nothing, framework.WithReplicas(2), kept},
	{"replicas of a StatefulSet", statefulSet, framework.WithReplicas(2), nothing, kept},
	{"replicas to none", deployment, nothing, framework.WithReplicas(0), kept},
	{"workload", deployment, withStorage("data"), both(framework.WithWorkload(statefulSet), withStorage("data")), replaced},
	{"workload to a DaemonSet", statefulSet, nothing, framework.WithWorkload(daemonSet), replaced},
	{"workload to a Deployment", daemonSet, nothing, framework.WithWorkload(deployment), replaced},
	{"strategy", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.Strategy = modelv1.StrategyRecreate }, kept},
	{"rolling update", deployment, nothing, framework.WithRollingUpdate(intstr.FromInt32(1)), kept},
	{"rolling update of a DaemonSet", daemonSet, nothing, framework.WithRollingUpdate(intstr.FromInt32(2)), kept},
	{"time to be ready", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.MinReadySeconds = ptr.To[int32](1) }, kept},
	{"progress deadline", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.ProgressDeadlineSeconds = ptr.To[int32](300) }, kept},
	{"revision history", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.RevisionHistoryLimit = ptr.To[int32](2) }, kept},
	{"resizes in place", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.Resize = &modelv1.ModelBoxResize{Mode: modelv1.ResizeInPlaceOnly}
	}, kept},
	{"restarts on references", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.RestartOn = ptr.To(modelv1.RestartOnReferences) }, replaced},
	{"pod management of a StatefulSet", statefulSet, framework.WithReplicas(2), both(framework.WithReplicas(2), withParallelPods), kept},

	{"another port", deployment, nothing, framework.WithPorts(corev1.ServicePort{Port: 8080}), replaced},
	{"ports that come", deployment, framework.WithPorts(), nothing, replaced},
	{"ports that go", deployment, nothing, framework.WithPorts(), replaced},
	{"ports of a StatefulSet that come", statefulSet, framework.WithPorts(), nothing, replaced},
	{"ports of a StatefulSet that go", statefulSet, nothing, framework.WithPorts(), replaced},
	{"node port", deployment, nothing, withServiceType(modelv1.ServiceTypeNodePort), kept},
	{"headless", deployment, nothing, withServiceType(modelv1.ServiceTypeHeadless), kept},
	{"headless no more", deployment, withServiceType(modelv1.ServiceTypeHeadless), nothing, kept},
	{"service", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.Service = &modelv1.ModelBoxService{SessionAffinity: corev1.ServiceAffinityClientIP, Labels: map[string]string{"exposed": "true"}}
	}, kept},
	{"labels", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.Labels = map[string]string{"team": "shop"} }, replaced},
	{"annotations", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.Annotations = map[string]string{"example.com/team": "shop"} }, replaced},

	{"class of resources", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.ResourceType = modelv1.ResourceTypeSmall }, replaced},
	{"resources", deployment, nothing, withCPU, replaced},
	{"variables", deployment, framework.WithEnvs(framework.EnvValue("A", "1")), framework.WithEnvs(framework.EnvFromName("A")), replaced},
	{"variables of a ConfigMap", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "variables"}}}}
	}, replaced},
	{"containers", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.Containers = []corev1.Container{{Name: "beside", Image: framework.Image}}
	}, replaced},
	{"init containers", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.InitContainers = []corev1.Container{{Name: "first", Image: framework.Image}}
	}, replaced},
	{"readiness probe", deployment, framework.WithReadinessProbe(framework.HTTPGet), nothing, replaced},
	{"liveness probe", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.LivenessProbe = &corev1.Probe{ProbeHandler: framework.HTTPGet}
	}, replaced},
	{"startup probe", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.StartupProbe = &corev1.Probe{ProbeHandler: framework.HTTPGet}
	}, replaced},
	{"default probes", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.DefaultProbes = modelv1.DefaultProbesDisabled }, replaced},
	{"one default probe", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.DisabledDefaultProbes = []modelv1.DefaultProbe{modelv1.DefaultProbeStartup}
	}, replaced},
	{"volumes", deployment, nothing, framework.WithVolume(framework.EmptyDir), replaced},

	{"config that comes", deployment, nothing, framework.WithConfig("files", modelv1.ConfigRolloutRestart, "a"), replaced},
	{"config that goes", deployment, framework.WithConfig("files", modelv1.ConfigRolloutRestart, "a"), nothing, replaced},
	{"config that restarts", statefulSet, framework.WithConfig("files", modelv1.ConfigRolloutRestart, "a"), framework.WithConfig("files", modelv1.ConfigRolloutRestart, "b"), replaced},
	{"config of versions", deployment, framework.WithConfig("files", modelv1.ConfigRolloutVersioned, "a"), framework.WithConfig("files", modelv1.ConfigRolloutVersioned, "b"), replaced},
	{"config of versions of a DaemonSet", daemonSet, framework.WithConfig("files", modelv1.ConfigRolloutVersioned, "a"), framework.WithConfig("files", modelv1.ConfigRolloutVersioned, "b"), replaced},
	{"live config", deployment, framework.WithConfig("files", modelv1.ConfigRolloutLive, "a"), framework.WithConfig("files", modelv1.ConfigRolloutLive, "b"), kept},

	{"storage that comes", deployment, nothing, withStorage("data"), replaced},
	{"storage that goes", deployment, withStorage("data"), nothing, replaced},
	{"other storage", deployment, withStorage("data"), withStorage("logs"), replaced},
	{"storage that grows", deployment, withStorage("data"), withStorage("data", framework.Sized("2Gi")), kept},
	{"storage that is retained no more", deployment, withStorage("data"), withStorage("data", framework.Discarded), kept},
	{"storage that is retained now", deployment, withStorage("data", framework.Discarded), withStorage("data"), kept},
	{"discarded storage that comes", deployment, nothing, withStorage("data", framework.Discarded), replaced},
	{"discarded storage that goes", deployment, withStorage("data", framework.Discarded), nothing, replaced},
	{"other discarded storage", deployment, withStorage("data", framework.Discarded), withStorage("logs", framework.Discarded), replaced},
	{"storage of a StatefulSet that comes", statefulSet, nothing, withStorage("data"), replaced},
	{"storage of a StatefulSet that goes", statefulSet, withStorage("data"), nothing, replaced},
	{"storage of a StatefulSet that grows", statefulSet, withStorage("data"), withStorage("data", framework.Sized("2Gi")), kept},
	{"storage of a StatefulSet that is retained no more", statefulSet, withStorage("data"), withStorage("data", framework.Discarded), kept},
	{"storage of a StatefulSet that is retained now", statefulSet, withStorage("data", framework.Discarded), withStorage("data"), kept},
	{"discarded storage of a StatefulSet that comes", statefulSet, nothing, withStorage("data", framework.Discarded), replaced},
	{"discarded storage of a StatefulSet that goes", statefulSet, withStorage("data", framework.Discarded), nothing, replaced},
	{"other discarded storage of a StatefulSet", statefulSet, withStorage("data", framework.Discarded), withStorage("logs", framework.Discarded), replaced},

	{"ingress that comes", deployment, nothing, framework.WithIngress("", "a.example.com"), kept},
	{"ingress that goes", deployment, framework.WithIngress("", "a.example.com"), nothing, kept},
	{"ingress of another host", deployment, framework.WithIngress("", "a.example.com"), framework.WithIngress("", "b.example.com"), kept},
	{"ingress of more paths", deployment, framework.WithIngress("", "a.example.com"), both(framework.WithIngress("", "a.example.com"), withFurtherPath), kept},
	{"route that comes", deployment, nothing, withRoute("a.example.com"), kept},
	{"route that goes", deployment, withRoute("a.example.com"), nothing, kept},
	{"route of other rules", deployment, withRoute("a.example.com"), both(withRoute("a.example.com"), withRouteRules), kept},
	{"route in place of an ingress", deployment, framework.WithIngress("", "a.example.com"), withRoute("a.example.com"), kept},
	{"GRPCRoute that comes", deployment, nothing, withGRPCRoute("a.example.com"), kept},
	{"GRPCRoute that goes", deployment, withGRPCRoute("a.example.com"), nothing, kept},
	{"GRPCRoute of other rules", deployment, withGRPCRoute("a.example.com"), both(withGRPCRoute("a.example.com"), withGRPCRouteRules), kept},
	{"autoscaling that comes", deployment, withCPU, both(withCPU, withAutoscaling(3)), kept},
	{"autoscaling that goes", deployment, both(withCPU, withAutoscaling(3)), withCPU, kept},
	{"autoscaling to more", statefulSet, both(withCPU, withAutoscaling(3)), both(withCPU, withAutoscaling(4)), kept},
	{"disruption budget that comes", deployment, nothing, withDisruptionBudget(1), kept},
	{"disruption budget that goes", statefulSet, withDisruptionBudget(1), nothing, kept},
	{"disruption budget of another size", daemonSet, withDisruptionBudget(1), withDisruptionBudget(2), kept},
	{"network policy that comes", deployment, nothing, withNetworkPolicy(80), kept},
	{"network policy that goes", statefulSet, withNetworkPolicy(80), nothing, kept},
	{"network policy of another port", daemonSet, withNetworkPolicy(80), withNetworkPolicy(81), kept},
	{"networks", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.Networks = []string{networkName} }, replaced},
	{"service account", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.ServiceAccountName = accountName }, replaced},
	{"pull secrets", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	}, replaced},
	{"pod template", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.com/overlay": "1"}}}
	}, replaced},
	{"drift that is ignored", deployment, nothing, func(spec *modelv1.ModelBoxSpec) {
		spec.IgnoreDrift = &modelv1.ModelBoxIgnoreDrift{Deployment: []string{"spec.minReadySeconds"}}
	}, kept},
	{"a Job before", deployment, nothing, func(spec *modelv1.ModelBoxSpec) { spec.Before = &modelv1.ModelBoxJob{Command: []string{"migrate"}} }, kept},
	{"another image after a Job", statefulSet, withJobs, both(withJobs, framework.WithImage(framework.NewImage)), replaced},
	{"a Job after that goes", deployment, withJobs, nothing, kept},
	{"rollback of rollouts that fail", deployment, nothing, withRollback, kept},
	{"rollback of rollouts that fail no more", statefulSet, withRollback, nothing, kept},
	{"steps of rollouts that come", deployment, nothing, withSteps, kept},
	{"steps of rollouts that go", statefulSet, withSteps, nothing, kept},
}

// unchanged are the fields of boxes that no change is of, and why.
var unchanged = map[string]string{
	"Paused":  "a pause alone changes nothing: there are ways with one",
	"Job":     "pods that run to completion have no rollouts and no replicas, which most ways need: see TestJobRunsForEachPodTemplate",
	"CronJob": "as of Job: see TestCronJobOfABox",
}

// What the namespaces of pairs have for the boxes in them.
const (
	networkName = "lan"
	accountName = "robot"
)

func nothing(*modelv1.ModelBoxSpec) {}

func withParallelPods(spec *modelv1.ModelBoxSpec) {
	spec.PodManagementPolicy = ptr.To(modelv1.PodManagementParallel)
}

func both(first, second func(*modelv1.ModelBoxSpec)) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		first(spec)
		second(spec)
	}
}

// withStorage gives the box storage of the class that its namespace has, which is filled in there.
func withStorage(name string, changes ...func(*modelv1.ModelBoxStorage)) func(*modelv1.ModelBoxSpec) {
	return framework.WithStorage("", name, changes...)
}

func withServiceType(serviceType modelv1.ServiceType) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = serviceType }
}

func withCPU(spec *modelv1.ModelBoxSpec) {
	spec.Resources = &corev1.ResourceRequirements{Requests: framework.Resources("1m", "")}
}

func withRoute(host string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Route = &modelv1.ModelBoxRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}, Hosts: []string{host}}
	}
}

func withGRPCRoute(host string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.GRPCRoute = &modelv1.ModelBoxGRPCRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}, Hosts: []string{host}}
	}
}

func withGRPCRouteRules(spec *modelv1.ModelBoxSpec) {
	spec.GRPCRoute.Rules = []modelv1.GRPCRouteRule{{Matches: []modelv1.GRPCRouteMatch{{Method: &modelv1.GRPCMethodMatch{Service: "shop.Cart"}}}}}
}

func withFurtherPath(spec *modelv1.ModelBoxSpec) {
	spec.Ingress.Paths = []modelv1.ModelBoxIngressPath{{Path: "/metrics"}}
}

func withRouteRules(spec *modelv1.ModelBoxSpec) {
	spec.Route.Rules = []modelv1.RouteRule{
		{Matches: []modelv1.RouteMatch{{Path: "/old"}}, RequestRedirect: &modelv1.RouteRequestRedirect{Scheme: "https"}},
		{Timeouts: &modelv1.RouteTimeouts{Request: "10s"}},
	}
}

func withAutoscaling(most int32) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Autoscaling = &modelv1.ModelBoxAutoscaling{MaxReplicas: most, CPU: ptr.To[int32](80)}
	}
}

func withRollback(spec *modelv1.ModelBoxSpec) {
	spec.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureRollback}
}

func withSteps(spec *modelv1.ModelBoxSpec) {
	spec.Rollout = &modelv1.ModelBoxRollout{
		OnFailure: modelv1.RolloutFailureRollback,
		Type:      ptr.To(modelv1.RolloutCanary),
		Steps:     []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: "1s"}, {Weight: 50}},
	}
}

func withDisruptionBudget(least int32) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.DisruptionBudget = &modelv1.ModelBoxDisruptionBudget{MinAvailable: ptr.To(intstr.FromInt32(least))}
	}
}

func withNetworkPolicy(port int32) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.NetworkPolicy = &modelv1.ModelBoxNetworkPolicy{Egress: []networkingv1.NetworkPolicyEgressRule{
			{Ports: []networkingv1.NetworkPolicyPort{{Port: ptr.To(intstr.FromInt32(port))}}},
		}}
	}
}

// isOfNewBoxes returns whether a box is not changed so: another one takes its place.
func (c change) isOfNewBoxes() bool {
	before, after := c.specs("box", "")
	return before.Workload != after.Workload
}

// specs returns the specs of a box of that name before and after the change, where storage is of the class.
func (c change) specs(name, class string) (before, after modelv1.ModelBoxSpec) {
	spec := func(change func(*modelv1.ModelBoxSpec)) modelv1.ModelBoxSpec {
		box := framework.NewBox(name, framework.WithWorkload(c.workload), soonReady, change)
		for i := range box.Spec.Storage {
			box.Spec.Storage[i].StorageClassName = &class
		}
		return box.Spec
	}
	return spec(c.before), spec(c.after)
}

func soonReady(spec *modelv1.ModelBoxSpec) { spec.MinReadySeconds = ptr.To[int32](0) }

// storageNamed returns the storage of that name, nil where the spec has none.
func storageNamed(spec *modelv1.ModelBoxSpec, name string) *modelv1.ModelBoxStorage {
	i := slices.IndexFunc(spec.Storage, func(storage modelv1.ModelBoxStorage) bool { return storage.Name == name })
	if i < 0 {
		return nil
	}
	return &spec.Storage[i]
}

// withJobs runs Jobs before and after the rollouts of a box. Simulated nodes complete Jobs at once.
func withJobs(spec *modelv1.ModelBoxSpec) {
	spec.Before, spec.After = &modelv1.ModelBoxJob{Command: []string{"migrate"}}, &modelv1.ModelBoxJob{Command: []string{"test"}}
}
