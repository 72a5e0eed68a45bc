// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster runs the controllers of kube-controller-manager, and simulates the scheduler, kubelets, the provisioner of volumes
// and the load of pods.
package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

// workers is the number of objects that each controller reconciles at the same time. With more workers, runs of the same seed would
// differ more often.
const workers = 1

// discoveryPeriod is the interval at which the garbage collector looks for new kinds. There are none.
const discoveryPeriod = 24 * time.Hour

// burstReplicas is the number of pods that a ReplicaSet creates at once, as in kube-controller-manager.
const burstReplicas = 500

// autoscalingPeriod is the interval at which autoscalers measure. It is four times the default, because each measurement is a request.
const autoscalingPeriod = time.Minute

// autoscalingTolerance is the share of the target by which a measurement may differ from it, as in kube-controller-manager.
const autoscalingTolerance = 0.1

// Run runs the controllers until ctx is done. They use discoveryConfig for discovery, and autoscalers measure the load.
func Run(ctx context.Context, config, discoveryConfig *rest.Config, load *Load) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating the client: %w", err)
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating the metadata client: %w", err)
	}
	discoveryClient, err := kubernetes.NewForConfig(discoveryConfig)
	if err != nil {
		return fmt.Errorf("creating the discovery client: %w", err)
	}
	discovery := memory.NewMemCacheClient(discoveryClient.Discovery())
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(discovery)
	scales, err := scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(discovery))
	if err != nil {
		return fmt.Errorf("creating the scale client: %w", err)
	}

	shared := informers.NewSharedInformerFactory(client, 0)
	pods, claims, nodes := shared.Core().V1().Pods(), shared.Core().V1().PersistentVolumeClaims(), shared.Core().V1().Nodes()
	apps := shared.Apps().V1()
	deployments, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), pods, client)
	if err != nil {
		return fmt.Errorf("creating the deployment controller: %w", err)
	}
	daemonSets, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), pods, nodes, client, flowcontrol.NewBackOff(time.Second, 15*time.Minute))
	if err != nil {
		return fmt.Errorf("creating the daemon set controller: %w", err)
	}
	jobs, err := job.NewController(ctx, client, pods, shared.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		return fmt.Errorf("creating the job controller: %w", err)
	}
	cronJobs, err := cronjob.NewControllerV2(ctx, shared.Batch().V1().Jobs(), shared.Batch().V1().CronJobs(), client)
	if err != nil {
		return fmt.Errorf("creating the cron job controller: %w", err)
	}
	replicaSets := replicaset.NewReplicaSetController(ctx, apps.ReplicaSets(), pods, client, burstReplicas)
	statefulSets := statefulset.NewStatefulSetController(ctx, pods, apps.StatefulSets(), claims, apps.ControllerRevisions(), client)
	disruptions := disruption.NewDisruptionController(ctx, pods, shared.Policy().V1().PodDisruptionBudgets(), shared.Core().V1().ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), client, mapper, scales, discovery)
	autoscalers := podautoscaler.NewHorizontalController(ctx, client.CoreV1(), scales, client.AutoscalingV2(), mapper, load,
		shared.Autoscaling().V2().HorizontalPodAutoscalers(), pods, autoscalingPeriod, autoscalingPeriod, autoscalingTolerance, 0, 0)
	started := make(chan struct{})
	metadataInformers := metadatainformer.NewSharedInformerFactory(metadataClient, 0)
	ignored := map[schema.GroupResource]struct{}{{Resource: "events"}: {}, {Group: "events.k8s.io", Resource: "events"}: {}}
	garbage, err := garbagecollector.NewGarbageCollector(ctx, client, metadataClient, mapper, ignored, informerfactory.NewInformerFactory(shared, metadataInformers), started)
	if err != nil {
		return fmt.Errorf("creating the garbage collector: %w", err)
	}

	shared.Start(ctx.Done())
	metadataInformers.Start(ctx.Done())
	close(started)
	var running sync.WaitGroup
	for _, run := range []func(){
		func() { deployments.Run(ctx, workers) },
		func() { replicaSets.Run(ctx, workers) },
		func() { statefulSets.Run(ctx, workers) },
		func() { daemonSets.Run(ctx, workers) },
		func() { jobs.Run(ctx, workers) },
		func() { cronJobs.Run(ctx, workers) },
		func() { disruptions.Run(ctx, workers) },
		func() { autoscalers.Run(ctx, workers) },
		func() { garbage.Run(ctx, workers, time.Minute) },
		func() { garbage.Sync(ctx, discovery, discoveryPeriod) },
	} {
		running.Go(run)
	}
	running.Wait()
	shared.Shutdown()
	metadataInformers.Shutdown()
	return nil
}
