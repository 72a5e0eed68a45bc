// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
)

// The prefixes of images whose pods are never ready. The pods of all other images are.
const (
	// MissingImage cannot be pulled.
	MissingImage = "missing"
	// CrashingImage crashes whenever it starts.
	CrashingImage = "crashing"
	// UnreadyImage runs, and is never ready.
	UnreadyImage = "unready"
)

// Runs returns whether the pods of the image become ready.
func Runs(image string) bool {
	for _, prefix := range []string{MissingImage, CrashingImage, UnreadyImage} {
		if strings.HasPrefix(image, prefix) {
			return false
		}
	}
	return true
}

// crashes is the number of crashes of a container. After the last crash, its back-off does not end.
const crashes = 8

// Nodes takes the place of the scheduler, of kubelets and of the provisioner of volumes. It does one step at a time.
type Nodes struct {
	Client kubernetes.Interface
	Store  *store.Store
	Names  []string

	// failedUntil has the time until which a node is failed.
	failedUntil map[string]time.Time
}

// Fail makes the node fail until then: its pods are no longer ready, and none of them starts or ends.
func (n *Nodes) Fail(name string, until time.Time) {
	if n.failedUntil == nil {
		n.failedUntil = map[string]time.Time{}
	}
	n.failedUntil[name] = until
}

// isFailed returns whether the node of the name is failed, which may be empty.
func (n *Nodes) isFailed(name string) bool { return time.Now().Before(n.failedUntil[name]) }

// Step is a step that can be done now.
type Step struct {
	name string
	run  func(context.Context) error
}

// String describes the step.
func (s Step) String() string { return s.name }

// Run does the step.
func (s Step) Run(ctx context.Context) error {
	if err := s.run(ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// Create creates the nodes.
func (n *Nodes) Create(ctx context.Context) error {
	for _, name := range n.Names {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
		node, err := n.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("creating node %s: %w", name, err)
		}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		if _, err := n.Client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("updating the status of node %s: %w", name, err)
		}
	}
	return nil
}

// Steps returns the steps that can be done now. Their order depends on the objects only.
func (n *Nodes) Steps() []Step {
	var steps []Step
	add := func(name string, object metav1.Object, run func(context.Context) error) {
		steps = append(steps, Step{name + " " + object.GetNamespace() + "/" + object.GetName(), run})
	}
	for _, object := range n.Store.Objects("/persistentvolumeclaims/") {
		claim := object.(*api.PersistentVolumeClaim)
		if claim.Status.Phase != api.ClaimBound || claim.Status.Capacity[api.ResourceStorage] != claim.Spec.Resources.Requests[api.ResourceStorage] {
			add("bind claim", claim, func(ctx context.Context) error { return n.bindClaim(ctx, claim) })
		}
	}
	for _, object := range n.Store.Objects("/pods/") {
		pod := object.(*api.Pod)
		switch {
		case n.isFailed(pod.Spec.NodeName):
			switch {
			case IsReady(pod):
				add("lose pod", pod, func(ctx context.Context) error { return n.lose(ctx, pod) })
			case pod.DeletionTimestamp == nil && !hasEnded(pod) && !isOfDaemonSet(pod):
				add("evict pod", pod, func(ctx context.Context) error {
					return n.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
				})
			}
		case pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0 && !hasEnded(pod):
			// The Job of the pod removes the finalizer when it has counted the end of the pod.
			status := podStatus(pod, corev1.PodFailed, false, terminated(1), 0)
			add("end pod", pod, func(ctx context.Context) error { return n.updateStatus(ctx, pod, status) })
		case pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0 && *pod.DeletionGracePeriodSeconds == 0:
		case pod.DeletionTimestamp != nil:
			add("remove pod", pod, func(ctx context.Context) error { return n.removePod(ctx, pod) })
		case pod.Spec.NodeName == "":
			if node := n.nodeFor(pod); node != "" && n.claimsAreBound(pod) {
				add("schedule pod", pod, func(ctx context.Context) error { return n.bind(ctx, pod, node) })
			}
		case IsReady(pod) && !isResized(pod):
			add("resize pod", pod, func(ctx context.Context) error { return n.resize(ctx, pod) })
		case IsReady(pod) && len(pod.Status.EphemeralContainerStatuses) < len(pod.Spec.EphemeralContainers):
			add("start the ephemeral containers of pod", pod, func(ctx context.Context) error { return n.startEphemeralContainers(ctx, pod) })
		default:
			if status, changes := n.nextStatus(pod); changes != "" {
				add(changes, pod, func(ctx context.Context) error { return n.updateStatus(ctx, pod, status) })
			}
		}
	}
	return steps
}

func (n *Nodes) bindClaim(ctx context.Context, claim *api.PersistentVolumeClaim) error {
	claims := n.Client.CoreV1().PersistentVolumeClaims(claim.Namespace)
	current, err := claims.Get(ctx, claim.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if current.Spec.VolumeName == "" {
		current.Spec.VolumeName = "volume-" + string(current.UID)
		if current, err = claims.Update(ctx, current, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	current.Status.Phase, current.Status.Capacity = corev1.ClaimBound, current.Spec.Resources.Requests
	current.Status.AccessModes = current.Spec.AccessModes
	_, err = claims.UpdateStatus(ctx, current, metav1.UpdateOptions{})
	return err
}

func (n *Nodes) claimsAreBound(pod *api.Pod) bool {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		key := "/persistentvolumeclaims/" + pod.Namespace + "/" + volume.PersistentVolumeClaim.ClaimName
		claim, _ := n.Store.Object(key).(*api.PersistentVolumeClaim)
		if claim == nil || claim.Status.Phase != api.ClaimBound {
			return false
		}
	}
	return true
}

// nodeFor returns the node for a pod: the node that a pod of a DaemonSet requires, or one that has not failed, which the UID determines.
// It returns "" if there is none.
func (n *Nodes) nodeFor(pod *api.Pod) string {
	if affinity := pod.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil && affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, field := range term.MatchFields {
				return field.Values[0]
			}
		}
	}
	healthy := slices.DeleteFunc(slices.Clone(n.Names), n.isFailed)
	if len(healthy) == 0 {
		return ""
	}
	return healthy[int(pod.UID[0])%len(healthy)]
}

func (n *Nodes) bind(ctx context.Context, pod *api.Pod, node string) error {
	return n.Client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
}

// removePod removes a pod that is being deleted. Its containers end at once.
func (n *Nodes) removePod(ctx context.Context, pod *api.Pod) error {
	now := int64(0)
	return n.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

// nextStatus returns the next status of the pod, and the name of the step, which is empty if the status does not change.
func (n *Nodes) nextStatus(pod *api.Pod) (corev1.PodStatus, string) {
	image := pod.Spec.Containers[0].Image
	isJob := pod.Spec.RestartPolicy != api.RestartPolicyAlways
	var restarts int32
	if len(pod.Status.ContainerStatuses) > 0 {
		restarts = pod.Status.ContainerStatuses[0].RestartCount
	}
	switch pod.Status.Phase {
	case api.PodPending:
		switch {
		case strings.HasPrefix(image, MissingImage):
			if len(pod.Status.ContainerStatuses) > 0 {
				return corev1.PodStatus{}, ""
			}
			waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image"}}
			return podStatus(pod, corev1.PodPending, false, waiting, 0), "fail to pull the image of pod"
		case isJob && !Runs(image):
			return podStatus(pod, corev1.PodFailed, false, terminated(1), 0), "fail pod"
		case strings.HasPrefix(image, CrashingImage):
			return podStatus(pod, corev1.PodRunning, false, crashing(), 1), "crash pod"
		default:
			return podStatus(pod, corev1.PodRunning, false, running(), 0), "start pod"
		}
	case api.PodRunning:
		switch {
		case isJob:
			return podStatus(pod, corev1.PodSucceeded, false, terminated(0), 0), "complete pod"
		case strings.HasPrefix(image, CrashingImage) && restarts < crashes:
			return podStatus(pod, corev1.PodRunning, false, crashing(), restarts+1), "crash pod"
		case strings.HasPrefix(image, CrashingImage), strings.HasPrefix(image, UnreadyImage), IsReady(pod):
			return corev1.PodStatus{}, ""
		default:
			return podStatus(pod, corev1.PodRunning, true, running(), restarts), "ready pod"
		}
	}
	return corev1.PodStatus{}, ""
}

// updateStatus writes the status of the pod.
func (n *Nodes) updateStatus(ctx context.Context, pod *api.Pod, status corev1.PodStatus) error {
	return n.changeStatus(ctx, pod, func(current *corev1.Pod) {
		status.EphemeralContainerStatuses = current.Status.EphemeralContainerStatuses
		current.Status = status
	})
}

// changeStatus changes the status of the pod.
func (n *Nodes) changeStatus(ctx context.Context, pod *api.Pod, change func(current *corev1.Pod)) error {
	pods := n.Client.CoreV1().Pods(pod.Namespace)
	current, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	change(current)
	_, err = pods.UpdateStatus(ctx, current, metav1.UpdateOptions{})
	return err
}

// lose sets the condition Ready of a pod of a failed node to False, as the node lifecycle controller does.
func (n *Nodes) lose(ctx context.Context, pod *api.Pod) error {
	return n.changeStatus(ctx, pod, func(current *corev1.Pod) {
		for i := range current.Status.Conditions {
			if condition := &current.Status.Conditions[i]; condition.Type == corev1.PodReady {
				condition.Status, condition.LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(time.Now())
			}
		}
	})
}

// resize gives the containers of the pod the resources that it asks for.
func (n *Nodes) resize(ctx context.Context, pod *api.Pod) error {
	return n.changeStatus(ctx, pod, func(current *corev1.Pod) {
		for i := range current.Status.ContainerStatuses {
			status := &current.Status.ContainerStatuses[i]
			status.Resources = current.Spec.Containers[i].Resources.DeepCopy()
			status.AllocatedResources = current.Spec.Containers[i].Resources.Requests
		}
		current.Status.ObservedGeneration = current.Generation
	})
}

// startEphemeralContainers starts all ephemeral containers of the pod.
func (n *Nodes) startEphemeralContainers(ctx context.Context, pod *api.Pod) error {
	return n.changeStatus(ctx, pod, func(current *corev1.Pod) {
		current.Status.EphemeralContainerStatuses = nil
		for _, container := range current.Spec.EphemeralContainers {
			current.Status.EphemeralContainerStatuses = append(current.Status.EphemeralContainerStatuses, corev1.ContainerStatus{
				Name: container.Name, Image: container.Image, ImageID: container.Image, State: running(),
			})
		}
	})
}

// podStatus returns the status of a pod all of whose containers are in the state.
func podStatus(pod *api.Pod, phase corev1.PodPhase, ready bool, state corev1.ContainerState, restarts int32) corev1.PodStatus {
	now := metav1.NewTime(time.Now())
	condition := func(kind corev1.PodConditionType, isTrue bool) corev1.PodCondition {
		status := corev1.ConditionFalse
		if isTrue {
			status = corev1.ConditionTrue
		}
		return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: now, ObservedGeneration: pod.Generation}
	}
	status := corev1.PodStatus{
		Phase: phase, StartTime: &now, HostIP: "192.0.2.2", PodIP: podIP(pod), PodIPs: []corev1.PodIP{{IP: podIP(pod)}}, ObservedGeneration: pod.Generation,
		Conditions: []corev1.PodCondition{
			condition(corev1.PodScheduled, true), condition(corev1.PodInitialized, true), condition(corev1.ContainersReady, ready), condition(corev1.PodReady, ready),
		},
	}
	if pod.Status.StartTime != nil {
		status.StartTime = pod.Status.StartTime
	}
	for _, container := range pod.Spec.Containers {
		started := state.Running != nil
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, ImageID: container.Image, State: state, Ready: ready, RestartCount: restarts, Started: &started,
			Resources: &corev1.ResourceRequirements{Requests: requests(container)}, AllocatedResources: requests(container),
		})
	}
	return status
}

// isResized returns whether the containers of the pod have the resources that it asks for.
func isResized(pod *api.Pod) bool {
	for i, container := range pod.Spec.Containers {
		status := pod.Status.ContainerStatuses[i].Resources
		if status == nil || !status.Requests.CPU().Equal(*container.Resources.Requests.CPU()) {
			return false
		}
	}
	return true
}

// requests returns the requests of the container.
func requests(container api.Container) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, quantity := range container.Resources.Requests {
		list[corev1.ResourceName(name)] = quantity
	}
	return list
}

// podIP returns an address that the UID of the pod determines.
func podIP(pod *api.Pod) string {
	return fmt.Sprintf("10.%d.%d.%d", pod.UID[0], pod.UID[1], pod.UID[2])
}

// IsReady returns whether the pod has the condition Ready.
func IsReady(pod *api.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == api.PodReady {
			return condition.Status == api.ConditionTrue
		}
	}
	return false
}

// hasEnded returns whether the containers of the pod have ended for good.
func hasEnded(pod *api.Pod) bool {
	return pod.Status.Phase == api.PodSucceeded || pod.Status.Phase == api.PodFailed
}

func isOfDaemonSet(pod *api.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Now())}}
}

func crashing() corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off restarting failed container"}}
}

func terminated(code int32) corev1.ContainerState {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.NewTime(time.Now())}}
}
