// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package warn has the warnings that the API returns for boxes, stacks, networks and PodDebuggers. Most of them follow the path of a
// field and ": ". A test names the function or the constant and does not repeat the sentence.
package warn

import (
	"fmt"
	"slices"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	// LatestTag is about an image with the tag "latest".
	LatestTag = `the tag "latest" moves: pods may run different versions of it`

	// RunsJobBefore is about an update that replaces pods of a box with spec.before.
	RunsJobBefore = "runs the Job of spec.before first: the pods stay until it has succeeded"

	// RunsAgain follows the Job that an update replaces.
	RunsAgain = ": it runs again"

	// NoEffectWithoutPorts is about a field of the Service of a box without ports.
	NoEffectWithoutPorts = "has no effect without ports: there is no Service"

	// NoProbeToDelay is about a startup probe.
	NoProbeToDelay = "has no effect: the main container has no liveness or readiness probe that it could delay"

	// OwnProbe is about a default probe that is disabled although the box has its own.
	OwnProbe = "has no effect: the box has a probe of its own"

	// NoStartupProbe is about a default startup probe that is disabled while the default liveness probe is not.
	NoStartupProbe = "the default liveness probe restarts a container that does not answer within 30 seconds of its start"

	// NeedsFeatureGate is about a limit of the rolling update of a StatefulSet.
	NeedsFeatureGate = "is rejected by clusters in which the feature gate MaxUnavailableStatefulSet is off"

	// OnlyPodDeletedFirst is about the maxUnavailable of a box with one pod.
	OnlyPodDeletedFirst = "lets an update delete the only pod before there is another one"

	// HostnameOfStatefulSet is about the hostname in the podTemplate of a StatefulSet.
	HostnameOfStatefulSet = "has no effect with workload StatefulSet: the hostname of each pod is its name"

	// SubdomainOfStatefulSet is about the subdomain in the podTemplate of a StatefulSet.
	SubdomainOfStatefulSet = "has no effect with workload StatefulSet: the subdomain of the pods is the name of their headless Service"

	// SetByAutoscaler is about replicas that an update changes in vain.
	SetByAutoscaler = "a HorizontalPodAutoscaler sets this field and will do so again"

	// LeaveOutReplicas follows SetByAutoscaler for a user of the box, who can leave the replicas out.
	LeaveOutReplicas = "; leave it out of the box"

	// UpdatedPodsStay follows the number of pods that an update rolls at most.
	UpdatedPodsStay = ": pods that already run the new pod template stay"

	// ClosesOtherDestinations is about a stack that isolates its components.
	ClosesOtherDestinations = "the components connect to their dependencies and to DNS only"

	// NoStableRevision is why the pods of a box are not replaced in the steps of its rollout.
	NoStableRevision = "no rollout of the box with `rollout` has been complete yet"

	// RestartsOnce is about spec.restartOn of a box with pods.
	RestartsOnce = "restarts the pods once, to record the hashes of the ConfigMaps and Secrets that they refer to"

	// RolloutInProgress is why pods are not resized in place.
	RolloutInProgress = "a rollout is in progress"

	// HostOfBothRoutes is about a host of an HTTPRoute and a GRPCRoute that have the same parent.
	HostOfBothRoutes = "spec.route has the same host and the same parent: a listener of a Gateway accepts only one of the two routes"

	// OtherTargetPorts is why the pods of a box are not replaced in the steps of its rollout.
	OtherTargetPorts = "the target ports change, and one Service routes to the pods of both revisions"
)

// ClosesConnections is about a component of an isolated stack that accepts no connections any longer from other components, and from
// pods that are not in the stack if othersToo is true. The rules of its own network policy may still allow them.
func ClosesConnections(component string, clients []string, othersToo bool) string {
	if othersToo {
		clients = append(slices.Clone(clients), "pods outside of the stack")
	}
	return fmt.Sprintf("component %s: closes connections from %s", component, validate.JoinNames(clients))
}

// NoTag is about an image without a tag.
func NoTag(image string) string {
	return fmt.Sprintf("%q has no tag and means %q: pods may run different versions of it", image, image+":latest")
}

// NoEffectWith is about a field that another field makes ineffective, such as "strategy Recreate".
func NoEffectWith(other string) string { return "has no effect with " + other }

// WeightRounded is about the weight of a step of a rollout, in percent. share is what it is rounded to, and pods are the pods that have
// this share, such as "1 of 4 pods".
func WeightRounded(weight, share int32, pods string) string {
	return fmt.Sprintf("%d%% is rounded to %d%% of the traffic, the share of %s", weight, share, pods)
}

// NotInPlace follows the number of pods that an update rolls although the box asks for a resize in place.
func NotInPlace(obstacle string) string { return ", not in place: " + obstacle }

// ResizesNoPod is about a change of CPU or memory that pods cannot get in place, of a box that does not let them be replaced.
func ResizesNoPod(obstacle string) string { return "resizes no pod: " + obstacle }

// FilesOfAllSteps is about a config with the rollout Restart of a StatefulSet or a DaemonSet that is rolled out in steps.
const FilesOfAllSteps = "stable pods get changed files in the first step already; rollout Versioned leaves them the files that they have"

// IgnoredFor is about a field of a Service whose type is serviceType.
func IgnoredFor(serviceType string) string { return "is ignored for serviceType " + serviceType }

// NoEviction is about a disruption budget. while, such as " while the box has 2 pods", may be empty.
func NoEviction(while string) string {
	return fmt.Sprintf("no pod may be evicted%s, so that a drain of their nodes does not end: maxUnavailable: 1 allows one eviction at a time", while)
}

// AlreadyRequested is about a node port or a host and path that an update adds. by is the box that has it.
func AlreadyRequested(what, by string) string {
	return fmt.Sprintf("%s is already requested by %s", what, by)
}

// IngressLosesClass is about an Ingress whose class an update removes.
func IngressLosesClass(ingress string) string {
	return fmt.Sprintf("Ingress %s will have no class: the cluster sets its default class on new Ingresses only", ingress)
}

// NoNetwork is about a network of a box.
func NoNetwork(network string) string {
	return fmt.Sprintf("Network %s does not exist: pods do not start until it does", network)
}

// NetworkDeleted is about a network of a box.
func NetworkDeleted(network string) string {
	return fmt.Sprintf("Network %s is being deleted", network)
}

// NetworkInUse is about a network that a user deletes. boxes are the boxes that use it.
func NetworkInUse(network, boxes string) string {
	return fmt.Sprintf("Network %s is in use and is deleted once no box uses it: %s", network, boxes)
}

// WorkloadAutoscaled is about a change of the replicas of a box while an autoscaler scales its workload, such as "Deployment web".
func WorkloadAutoscaled(workload string, replicas, boxReplicas int32) string {
	return "has no effect while a HorizontalPodAutoscaler scales " + scaledWorkload(workload, replicas, boxReplicas)
}

// TwoAutoscalers is about a box with an autoscaler while another one scales its workload, which is of the kind.
func TwoAutoscalers(workload, kind string, replicas, boxReplicas int32) string {
	return fmt.Sprintf("a HorizontalPodAutoscaler scales the box, and another one scales %s: delete one of them; until then, the autoscaler of the %s decides",
		scaledWorkload(workload, replicas, boxReplicas), kind)
}

func scaledWorkload(workload string, replicas, boxReplicas int32) string {
	return fmt.Sprintf("%s, which has %d replicas where the box has %d", workload, replicas, boxReplicas)
}

// ReplicasStay is about replicas that an update does not change because the box has an autoscaler.
func ReplicasStay(current, requested int32) string {
	return fmt.Sprintf("stays %d and does not become %d: the autoscaler of the box sets it", current, requested)
}

// ReplicasRemoved is about the maxReplicas of an autoscaler.
func ReplicasRemoved(replicas int32) string {
	return fmt.Sprintf("the autoscaler will remove replicas, because the box starts with %d", replicas)
}

// ReplicasAdded is about the minReplicas of an autoscaler.
func ReplicasAdded(replicas int32) string {
	return fmt.Sprintf("the autoscaler will add replicas, because the box starts with %d", replicas)
}

// NoContainer is about a metric of an autoscaler.
func NoContainer(container string) string {
	return fmt.Sprintf("the box has no container %q: the metric cannot be computed unless an admission webhook adds it to the pods", container)
}

// FilesChanged is about the data of a config. pods is their number, such as "2 pods".
func FilesChanged(pods string) string {
	return fmt.Sprintf("changes the files of %s without a restart", pods)
}

// WhenUnpaused says that a warning is about a box that is paused.
func WhenUnpaused(text string) string { return "when the box is unpaused, " + text }

// RevertedByStack is about fields of a box that a stack sets.
func RevertedByStack(stack string) string {
	return fmt.Sprintf("ModelStack %s sets this and reverts the change: change it in the stack", stack)
}

// SharedVolume is about the access mode of a volume that several pods of a Deployment use.
func SharedVolume(mode string, pods int32) string {
	return fmt.Sprintf("%s allows the pods of one node to use the volume: of %d pods, those on other nodes do not start; use ReadWriteMany, or workload StatefulSet, which has a volume for each pod", mode, pods)
}

// VolumeNotReleased is about the access mode of a volume that one pod can use, with strategy RollingUpdate.
func VolumeNotReleased(mode string) string {
	return fmt.Sprintf("with %s, an update with strategy RollingUpdate does not end, because the new pod cannot start before the old one is deleted: use strategy Recreate", mode)
}

// VolumeOnOneNode is about the access mode of a volume that one node can use, with strategy RollingUpdate.
func VolumeOnOneNode(mode string) string {
	return fmt.Sprintf("with %s, the new pod of an update does not start on another node than the old one: use strategy Recreate", mode)
}

// ClaimTemplatesChange is about a StatefulSet. when is empty or " when the box is unpaused".
func ClaimTemplatesChange(statefulSet, when string) string {
	return fmt.Sprintf("the claim templates of StatefulSet %s cannot change: it is replaced%s, and its pods stay until they are rolled", statefulSet, when)
}

// ClaimsStay is about storage that an update removes. areClaims names the claims and continues with "is" or "are".
func ClaimsStay(areClaims string) string { return areClaims + " not deleted" }

// ClaimsDeleted is about storage that an update removes. areClaims names the claims and continues with "is" or "are".
func ClaimsDeleted(areClaims, when string) string {
	return fmt.Sprintf("%s deleted with the data%s: retain is false", areClaims, when)
}

// ServiceDeleted is about a box that no longer has ports. isService names the Service and continues with "is" or "will be".
func ServiceDeleted(isService, when, effect string) string {
	return fmt.Sprintf("a box without ports has no Service: %s deleted%s%s", isService, when, effect)
}

// PodsLoseNames is the effect of ServiceDeleted for a StatefulSet.
const PodsLoseNames = ", and the pods lose their DNS names"

// ServiceBecomesHeadless is about a change of the serviceType. isService names the Service and continues with "is" or "will be".
func ServiceBecomesHeadless(isService, when string) string {
	return fmt.Sprintf("%s replaced by a headless one%s: clients can no longer use its cluster IP", isService, when)
}

// ServiceGetsClusterIP is about a change of the serviceType. isService names the Service and continues with "is" or "will be".
func ServiceGetsClusterIP(isService, when string) string {
	return fmt.Sprintf("headless %s replaced by one with a cluster IP%s: its name will resolve to another address", isService, when)
}

// ContainerStays is about the pods of a PodDebugger that a user deletes.
func ContainerStays(container, pods string) string {
	return fmt.Sprintf("an ephemeral container cannot be removed from a pod: these pods still have %s: %s", container, pods)
}

// BoxesRestart is about the boxes of a PodDebugger that a user deletes.
func BoxesRestart(container, boxes string) string {
	return fmt.Sprintf("these boxes are restarted because their pods have %s: %s", container, boxes)
}

// SecretsNotWatched is about spec.restartOn of a box whose pods refer to Secrets, on a server that does not watch Secrets.
func SecretsNotWatched(names string) string {
	return fmt.Sprintf("a change of Secret %s does not restart the pods: the server does not watch Secrets, see --watch-referenced-secrets", names)
}
