// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

const (
	desiredReplicas  = "deployment.kubernetes.io/desired-replicas"
	progressDeadline = 10 * time.Minute
)

// simulation is what the controllers of a cluster make of Deployments, StatefulSets and DaemonSets. It works one step at a time: a pod is
// created in one step, and is ready in the next one.
type simulation struct {
	tracker clienttesting.ObjectTracker
	clock   clock.PassiveClock
	// failing has what becomes of pods with an image that do not get ready.
	failing map[string]func(*corev1.Pod)
	// quota is the number of pods that there can be, 0 for any number.
	quota int
	// nodes is the number of nodes that are to run a pod of a DaemonSet.
	nodes int
	// runJob runs the command of a Job, and returns whether it succeeds. Without it, Jobs wait.
	runJob func(t *testing.T, job *batchv1.Job) bool
	// lastUID is the number in the last UID that was given.
	lastUID int
}

var (
	deployments  = appsv1.SchemeGroupVersion.WithResource("deployments")
	statefulSets = appsv1.SchemeGroupVersion.WithResource("statefulsets")
	replicaSets  = appsv1.SchemeGroupVersion.WithResource("replicasets")
	pods         = corev1.SchemeGroupVersion.WithResource("pods")
)

// apply applies a patch, gives a new object a UID, and counts changes of the spec, as an API server does.
func (s *simulation) apply(action clienttesting.Action) (bool, runtime.Object, error) {
	name := action.(clienttesting.PatchAction).GetName()
	before, err := s.tracker.Get(action.GetResource(), action.GetNamespace(), name)
	isNew := err != nil
	_, after, err := clienttesting.ObjectReaction(s.tracker)(action)
	if err != nil {
		return true, nil, err
	}
	object := after.(metav1.Object)
	if isNew {
		object.SetUID(s.newUID())
	}
	countTemplates(before, after)
	if isNew || !apiequality.Semantic.DeepEqual(specOf(before), specOf(after)) {
		object.SetGeneration(object.GetGeneration() + 1)
	}
	return true, after, s.tracker.Update(action.GetResource(), after, action.GetNamespace())
}

func (s *simulation) newUID() types.UID {
	s.lastUID++
	return types.UID("uid-" + strconv.Itoa(s.lastUID))
}

// work takes one step, and returns whether there was anything to do.
func (s *simulation) work(t *testing.T) bool {
	t.Helper()
	before := s.all(t)
	s.collectGarbage(t)
	s.startPods(t)
	s.runJobs(t)
	for _, set := range simulated[appsv1.StatefulSet](t, s, statefulSets, "StatefulSet") {
		s.updateStatefulSet(t, set)
	}
	for _, set := range simulated[appsv1.DaemonSet](t, s, daemonSets, "DaemonSet") {
		s.updateDaemonSet(t, set)
	}
	for _, deployment := range simulated[appsv1.Deployment](t, s, deployments, "Deployment") {
		s.updateDeployment(t, deployment)
	}
	for _, set := range simulated[appsv1.ReplicaSet](t, s, replicaSets, "ReplicaSet") {
		s.replicate(t, set)
	}
	for _, deployment := range simulated[appsv1.Deployment](t, s, deployments, "Deployment") {
		s.reportDeployment(t, deployment)
	}
	for _, set := range simulated[appsv1.StatefulSet](t, s, statefulSets, "StatefulSet") {
		s.reportStatefulSet(t, set)
	}
	for _, set := range simulated[appsv1.DaemonSet](t, s, daemonSets, "DaemonSet") {
		s.reportDaemonSet(t, set)
	}
	return !apiequality.Semantic.DeepEqual(before, s.all(t))
}

// simulated returns the objects of a resource.
func simulated[T any](t *testing.T, s *simulation, resource schema.GroupVersionResource, kind string) []*T {
	t.Helper()
	list, err := s.tracker.List(resource, resource.GroupVersion().WithKind(kind), fixture.WebKey.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	var all []*T
	for _, object := range objects {
		all = append(all, any(object.DeepCopyObject()).(*T))
	}
	return all
}

func (s *simulation) all(t *testing.T) []any {
	t.Helper()
	return []any{
		simulated[batchv1.Job](t, s, jobs, "Job"),
		simulated[appsv1.Deployment](t, s, deployments, "Deployment"), simulated[appsv1.StatefulSet](t, s, statefulSets, "StatefulSet"),
		simulated[appsv1.DaemonSet](t, s, daemonSets, "DaemonSet"), simulated[appsv1.ReplicaSet](t, s, replicaSets, "ReplicaSet"), s.pods(t),
	}
}

func (s *simulation) pods(t *testing.T) []*corev1.Pod {
	t.Helper()
	return simulated[corev1.Pod](t, s, pods, "Pod")
}

// podsOf returns the pods that an object controls, the ready ones first.
func (s *simulation) podsOf(t *testing.T, owner metav1.Object) []*corev1.Pod {
	t.Helper()
	owned := slices.DeleteFunc(s.pods(t), func(pod *corev1.Pod) bool { return !metav1.IsControlledBy(pod, owner) })
	slices.SortStableFunc(owned, func(a, b *corev1.Pod) int {
		return cmp.Or(-compareBools(kinds.IsReady(a), kinds.IsReady(b)), cmp.Compare(a.Name, b.Name))
	})
	return owned
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

func (s *simulation) create(t *testing.T, resource schema.GroupVersionResource, object metav1.Object) {
	t.Helper()
	object.SetNamespace(fixture.WebKey.Namespace)
	object.SetUID(s.newUID())
	object.SetCreationTimestamp(metav1.NewTime(s.clock.Now()))
	if err := s.tracker.Create(resource, object.(runtime.Object), object.GetNamespace()); err != nil {
		t.Fatal(err)
	}
}

func (s *simulation) update(t *testing.T, resource schema.GroupVersionResource, object metav1.Object) {
	t.Helper()
	if err := s.tracker.Update(resource, object.(runtime.Object), object.GetNamespace()); err != nil {
		t.Fatal(err)
	}
}

func (s *simulation) delete(t *testing.T, resource schema.GroupVersionResource, object metav1.Object) {
	t.Helper()
	if err := s.tracker.Delete(resource, object.GetNamespace(), object.GetName()); err != nil {
		t.Fatal(err)
	}
}

// collectGarbage deletes what belongs to an object that is gone.
func (s *simulation) collectGarbage(t *testing.T) {
	t.Helper()
	owners := map[types.UID]bool{}
	for _, deployment := range simulated[appsv1.Deployment](t, s, deployments, "Deployment") {
		owners[deployment.UID] = true
	}
	for _, set := range simulated[appsv1.StatefulSet](t, s, statefulSets, "StatefulSet") {
		owners[set.UID] = true
	}
	for _, set := range simulated[appsv1.DaemonSet](t, s, daemonSets, "DaemonSet") {
		owners[set.UID] = true
	}
	for _, set := range simulated[appsv1.ReplicaSet](t, s, replicaSets, "ReplicaSet") {
		if owners[set.UID] = owners[metav1.GetControllerOf(set).UID]; !owners[set.UID] {
			s.delete(t, replicaSets, set)
		}
	}
	for _, pod := range s.pods(t) {
		if !owners[metav1.GetControllerOf(pod).UID] {
			s.delete(t, pods, pod)
		}
	}
}

// startPods makes pods ready, or fail.
func (s *simulation) startPods(t *testing.T) {
	t.Helper()
	for _, pod := range s.pods(t) {
		if kinds.IsReady(pod) || len(pod.Status.ContainerStatuses) > 0 {
			continue
		}
		if fail := s.failing[pod.Spec.Containers[0].Image]; fail != nil {
			fail(pod)
		} else {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(s.clock.Now())}}
		}
		s.update(t, pods, pod)
	}
}

func (s *simulation) newPod(name, hashLabel, hash string, owner metav1.OwnerReference, template *corev1.PodTemplateSpec) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Name, pod.OwnerReferences = name, []metav1.OwnerReference{owner}
	pod.Labels[hashLabel] = hash
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(s.clock.Now())}}}
	return pod
}

func ownedBy(kind string, owner metav1.Object) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: ptr.To(true)}
}

func templateHash(t *testing.T, template *corev1.PodTemplateSpec) string {
	t.Helper()
	data, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:4])
}

// replicaSetsOf returns the ReplicaSets of a Deployment, the newest one first, which is nil if the Deployment has none for its template.
func (s *simulation) replicaSetsOf(t *testing.T, deployment *appsv1.Deployment) (newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) {
	t.Helper()
	for _, set := range simulated[appsv1.ReplicaSet](t, s, replicaSets, "ReplicaSet") {
		switch {
		case !metav1.IsControlledBy(set, deployment):
		case newest == nil && apiequality.Semantic.DeepEqual(set.Spec.Template, deployment.Spec.Template):
			newest = set
		default:
			old = append(old, set)
		}
	}
	return newest, old
}

// updateDeployment does what the Deployment controller does about ReplicaSets.
func (s *simulation) updateDeployment(t *testing.T, deployment *appsv1.Deployment) {
	t.Helper()
	newest, old := s.replicaSetsOf(t, deployment)
	all := slices.DeleteFunc(append([]*appsv1.ReplicaSet{newest}, old...), func(set *appsv1.ReplicaSet) bool { return set == nil })
	active := slices.DeleteFunc(slices.Clone(all), func(set *appsv1.ReplicaSet) bool { return *set.Spec.Replicas == 0 })
	desired := *deployment.Spec.Replicas
	isScaling := slices.ContainsFunc(active, func(set *appsv1.ReplicaSet) bool {
		return set.Annotations[desiredReplicas] != strconv.Itoa(int(desired))
	})
	surge, unavailable := s.limits(t, deployment)
	total := func() (replicas, available int32) {
		for _, set := range all {
			replicas += *set.Spec.Replicas
			available += s.available(t, set)
		}
		return replicas, available
	}
	switch {
	case len(active) == 1 && (isScaling || deployment.Spec.Paused):
		s.scale(t, deployment, active[0], desired)
		return
	case isScaling:
		replicas, _ := total()
		slices.SortStableFunc(active, func(a, b *appsv1.ReplicaSet) int { return int(*b.Spec.Replicas - *a.Spec.Replicas) })
		more := desired + surge - replicas
		if desired == 0 {
			more = -replicas
		}
		for _, set := range active {
			scaled := max(0, *set.Spec.Replicas+more)
			more -= scaled - *set.Spec.Replicas
			s.scale(t, deployment, set, scaled)
		}
		return
	case deployment.Spec.Paused:
		return
	}
	if newest = s.newestReplicaSet(t, deployment, newest, old); len(all) == len(old) {
		all = append(all, newest)
	}
	replicas, _ := total()
	switch has := *newest.Spec.Replicas; {
	case has > desired:
		s.scale(t, deployment, newest, desired)
		return
	case has < desired && replicas < desired+surge:
		s.scale(t, deployment, newest, has+min(desired+surge-replicas, desired-has))
		return
	}
	minAvailable := desired - unavailable
	replicas, _ = total()
	left := replicas - minAvailable - (*newest.Spec.Replicas - s.available(t, newest))
	for _, set := range old {
		if unhealthy := min(left, *set.Spec.Replicas-s.available(t, set)); unhealthy > 0 {
			s.scale(t, deployment, set, *set.Spec.Replicas-unhealthy)
			left -= unhealthy
		}
	}
	_, available := total()
	left = min(left, available-minAvailable)
	for _, set := range old {
		if down := min(left, *set.Spec.Replicas); down > 0 {
			s.scale(t, deployment, set, *set.Spec.Replicas-down)
			left -= down
		}
	}
}

func (s *simulation) limits(t *testing.T, deployment *appsv1.Deployment) (surge, unavailable int32) {
	t.Helper()
	rollingUpdate, desired := deployment.Spec.Strategy.RollingUpdate, int(*deployment.Spec.Replicas)
	up, err := intstr.GetScaledValueFromIntOrPercent(rollingUpdate.MaxSurge, desired, true)
	if err != nil {
		t.Fatal(err)
	}
	down, err := intstr.GetScaledValueFromIntOrPercent(rollingUpdate.MaxUnavailable, desired, false)
	if err != nil {
		t.Fatal(err)
	}
	if up == 0 && down == 0 {
		down = 1
	}
	return int32(up), int32(down)
}

// newestReplicaSet returns the ReplicaSet with the template of the Deployment, which has the highest revision.
func (s *simulation) newestReplicaSet(t *testing.T, deployment *appsv1.Deployment, newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) *appsv1.ReplicaSet {
	t.Helper()
	last := 0
	for _, set := range old {
		revision, _ := strconv.Atoi(set.Annotations[kinds.DeploymentRevision])
		last = max(last, revision)
	}
	if newest == nil {
		hash := templateHash(t, &deployment.Spec.Template)
		for slices.ContainsFunc(old, func(set *appsv1.ReplicaSet) bool { return set.Name == deployment.Name+"-"+hash }) {
			hash += "x" // The template of the ReplicaSet of this name was changed.
		}
		newest = &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: new(int32), Template: *deployment.Spec.Template.DeepCopy()}}
		newest.Name, newest.OwnerReferences = deployment.Name+"-"+hash, []metav1.OwnerReference{ownedBy("Deployment", deployment)}
		newest.Labels = labels.Merge(deployment.Spec.Template.Labels, labels.Set{appsv1.DefaultDeploymentUniqueLabelKey: hash})
		newest.Annotations = map[string]string{desiredReplicas: strconv.Itoa(int(*deployment.Spec.Replicas))}
		s.create(t, replicaSets, newest)
	}
	if revision, _ := strconv.Atoi(newest.Annotations[kinds.DeploymentRevision]); revision <= last {
		newest.Annotations[kinds.DeploymentRevision] = strconv.Itoa(last + 1)
		s.update(t, replicaSets, newest)
	}
	if deployment.Annotations[kinds.DeploymentRevision] != newest.Annotations[kinds.DeploymentRevision] {
		deployment.Annotations[kinds.DeploymentRevision] = newest.Annotations[kinds.DeploymentRevision]
		s.update(t, deployments, deployment)
	}
	return newest
}

func (s *simulation) scale(t *testing.T, deployment *appsv1.Deployment, set *appsv1.ReplicaSet, replicas int32) {
	t.Helper()
	set.Spec.Replicas = &replicas
	set.Annotations[desiredReplicas] = strconv.Itoa(int(*deployment.Spec.Replicas))
	s.update(t, replicaSets, set)
}

func (s *simulation) available(t *testing.T, owner metav1.Object) (available int32) {
	t.Helper()
	for _, pod := range s.podsOf(t, owner) {
		if kinds.IsReady(pod) {
			available++
		}
	}
	return available
}

// replicate creates or deletes pods of a ReplicaSet.
func (s *simulation) replicate(t *testing.T, set *appsv1.ReplicaSet) {
	t.Helper()
	owned := s.podsOf(t, set)
	for _, pod := range owned[min(len(owned), int(*set.Spec.Replicas)):] {
		s.delete(t, pods, pod)
	}
	for range int(*set.Spec.Replicas) - len(owned) {
		if s.quota > 0 && len(s.pods(t)) >= s.quota {
			return
		}
		name := fmt.Sprintf("%s-%05d", set.Name, s.lastUID)
		s.create(t, pods, s.newPod(name, appsv1.DefaultDeploymentUniqueLabelKey, set.Labels[appsv1.DefaultDeploymentUniqueLabelKey], ownedBy("ReplicaSet", set), &set.Spec.Template))
	}
}

// reportDeployment writes the status of a Deployment.
func (s *simulation) reportDeployment(t *testing.T, deployment *appsv1.Deployment) {
	t.Helper()
	newest, old := s.replicaSetsOf(t, deployment)
	status, lacksQuota := appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation}, false
	for _, set := range append(old, newest) {
		if set == nil {
			continue
		}
		owned, available := int32(len(s.podsOf(t, set))), s.available(t, set)
		status.Replicas += owned
		status.ReadyReplicas += available
		status.AvailableReplicas += available
		if set == newest {
			status.UpdatedReplicas = owned
		}
		lacksQuota = lacksQuota || owned < *set.Spec.Replicas && s.quota > 0
	}
	desired := *deployment.Spec.Replicas
	_, unavailable := s.limits(t, deployment)
	progressing := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "ReplicaSetUpdated", LastUpdateTime: metav1.NewTime(s.clock.Now())}
	last := kinds.Deployment{Deployment: deployment}.Condition(appsv1.DeploymentProgressing)
	isUnchanged := last != nil && deployment.Status.ObservedGeneration == deployment.Generation && deployment.Status.Replicas == status.Replicas &&
		deployment.Status.UpdatedReplicas == status.UpdatedReplicas && deployment.Status.AvailableReplicas == status.AvailableReplicas
	switch {
	case status.UpdatedReplicas == desired && status.Replicas == desired && status.AvailableReplicas == desired:
		progressing.Reason = "NewReplicaSetAvailable"
		if last != nil && last.Reason == progressing.Reason {
			progressing = *last
		}
	case isUnchanged && last.Reason == "ReplicaSetUpdated" && !deployment.Spec.Paused && s.clock.Since(last.LastUpdateTime.Time) >= progressDeadline:
		progressing.Status, progressing.Reason = corev1.ConditionFalse, "ProgressDeadlineExceeded"
	case isUnchanged && last.Reason != "NewReplicaSetAvailable":
		progressing = *last
	}
	available := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Reason: "MinimumReplicasUnavailable"}
	if status.AvailableReplicas >= desired-unavailable {
		available.Status, available.Reason = corev1.ConditionTrue, "MinimumReplicasAvailable"
	}
	status.Conditions = []appsv1.DeploymentCondition{progressing, available}
	if lacksQuota {
		status.Conditions = append(status.Conditions, appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota"})
	}
	deployment.Status = status
	s.update(t, deployments, deployment)
}

// updateStatefulSet creates the pods of a StatefulSet, or replaces the one with the highest ordinal that has another revision.
func (s *simulation) updateStatefulSet(t *testing.T, set *appsv1.StatefulSet) {
	t.Helper()
	revision := set.Name + "-" + templateHash(t, &set.Spec.Template)
	partition := int32(0)
	if set.Spec.UpdateStrategy.RollingUpdate != nil {
		partition = ptr.Deref(set.Spec.UpdateStrategy.RollingUpdate.Partition, 0)
	}
	byOrdinal := map[int32]*corev1.Pod{}
	for _, pod := range s.podsOf(t, set) {
		ordinal, err := strconv.Atoi(pod.Name[len(set.Name)+1:])
		if err != nil {
			t.Fatal(err)
		}
		byOrdinal[int32(ordinal)] = pod
		if int32(ordinal) >= *set.Spec.Replicas {
			s.delete(t, pods, pod)
		}
	}
	template, current := &set.Spec.Template, set.Status.CurrentRevision
	for ordinal := range *set.Spec.Replicas {
		if byOrdinal[ordinal] == nil {
			of, name := revision, fmt.Sprintf("%s-%d", set.Name, ordinal)
			if ordinal < partition && current != "" && current != revision {
				of, template = current, s.formerTemplate(t, set, current)
			}
			pod := s.newPod(name, appsv1.StatefulSetRevisionLabel, of, ownedBy("StatefulSet", set), template)
			pod.Labels[appsv1.StatefulSetPodNameLabel] = name
			s.create(t, pods, pod)
			return
		}
		if !kinds.IsReady(byOrdinal[ordinal]) {
			return
		}
	}
	for ordinal := *set.Spec.Replicas - 1; ordinal >= partition; ordinal-- {
		if pod := byOrdinal[ordinal]; pod.Labels[appsv1.StatefulSetRevisionLabel] != revision {
			s.delete(t, pods, pod)
			return
		}
	}
}

// formerTemplate returns the template of a pod of the current revision.
func (s *simulation) formerTemplate(t *testing.T, set *appsv1.StatefulSet, revision string) *corev1.PodTemplateSpec {
	t.Helper()
	for _, pod := range s.podsOf(t, set) {
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == revision {
			return &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}, Spec: pod.Spec}
		}
	}
	return &set.Spec.Template
}

// reportStatefulSet writes the status of a StatefulSet.
func (s *simulation) reportStatefulSet(t *testing.T, set *appsv1.StatefulSet) {
	t.Helper()
	status := appsv1.StatefulSetStatus{
		ObservedGeneration: set.Generation, UpdateRevision: set.Name + "-" + templateHash(t, &set.Spec.Template), CurrentRevision: set.Status.CurrentRevision,
	}
	for _, pod := range s.podsOf(t, set) {
		status.Replicas++
		if kinds.IsReady(pod) {
			status.ReadyReplicas++
			status.AvailableReplicas++
		}
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == status.UpdateRevision {
			status.UpdatedReplicas++
		}
	}
	if status.CurrentRevision == "" || status.UpdatedReplicas == *set.Spec.Replicas && status.ReadyReplicas == status.UpdatedReplicas {
		status.CurrentRevision = status.UpdateRevision
	}
	status.CurrentReplicas = status.Replicas - status.UpdatedReplicas
	set.Status = status
	s.update(t, statefulSets, set)
}

// cachePods lets the controller see the pods that there are.
func (f *testController) cachePods(t *testing.T, s *simulation) {
	t.Helper()
	var all []any
	for _, pod := range s.pods(t) {
		all = append(all, informers.TrimPod(pod))
	}
	if err := f.pods.Replace(all, ""); err != nil {
		t.Fatal(err)
	}
}
