// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package options holds the command line options of modelbox-apiserver.
package options

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	baseversion "k8s.io/component-base/version"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/filters/bodylimit"
	productversion "github.com/sharelinuxs/modelbox-apiserver/pkg/version"
)

const (
	// watchTerminationGracePeriod is how long open watches may continue at shutdown. Watches through the aggregation layer do not
	// end otherwise, and would delay the end of the process by a minute.
	watchTerminationGracePeriod = 2 * time.Second

	// maxRequestBodyBytes is the limit of kube-apiserver. It is more than any stored stack with its managed fields: etcd accepts
	// requests of 1.5 MiB, and JSON is up to twice as large as the stored form.
	maxRequestBodyBytes = 3 << 20
)

// Options is everything that can be said on the command line.
type Options struct {
	Server        *genericoptions.ServerRunOptions
	Recommended   *genericoptions.RecommendedOptions
	Storage       *StorageOptions
	StoreRecovery *RecoveryOptions
	Snapshots     *SnapshotOptions
	NodePorts     *NodePortOptions
	PodAccess     *PodAccessOptions
	Prometheus    *PrometheusOptions
	Controllers   *ControllerOptions
	Logs          *logs.Options

	ServingCertificate *ServingCertificateOptions

	flags cliflag.NamedFlagSets
}

// New returns the defaults.
func New() *Options {
	return NewForRegistry(compatibility.DefaultComponentGlobalsRegistry)
}

// NewForRegistry returns the defaults, with versions and feature gates kept in the given registry. Tests that
// run several servers in one process give each its own.
func NewForRegistry(registry basecompatibility.ComponentGlobalsRegistry) *Options {
	registerVersions(registry)
	o := &Options{
		Server: genericoptions.NewServerRunOptionsForComponent(basecompatibility.DefaultKubeComponent, registry),
		Recommended: genericoptions.NewRecommendedOptions(
			apiserver.DefaultEtcdPathPrefix,
			apiserver.Codecs.LegacyCodec(modelv1.SchemeGroupVersion),
		),
		Storage:       NewStorageOptions(),
		StoreRecovery: NewRecoveryOptions(),
		Snapshots:     NewSnapshotOptions(),
		NodePorts:     NewNodePortOptions(),
		PodAccess:     NewPodAccessOptions(),
		Prometheus:    NewPrometheusOptions(),
		Controllers:   NewControllerOptions(),
		Logs:          logs.NewOptions(),

		ServingCertificate: NewServingCertificateOptions(),
	}
	o.Server.ShutdownWatchTerminationGracePeriod = watchTerminationGracePeriod
	o.Server.MaxRequestBodyBytes = maxRequestBodyBytes
	o.Server.JSONPatchMaxCopyBytes = bodylimit.MaxCopiedBytes
	// Of the stored bytes; objects that are stored as JSON are read all the same.
	o.Recommended.Etcd.DefaultStorageMediaType = runtime.ContentTypeProtobuf
	setAdmissionPlugins(o.Recommended.Admission)
	o.addFlags(&o.flags)
	return o
}

// registerVersions makes the emulated version of the Kubernetes libraries follow the one of the product.
func registerVersions(registry basecompatibility.ComponentGlobalsRegistry) {
	registry.ComponentGlobalsOrRegister(productversion.Component,
		basecompatibility.NewEffectiveVersionFromString(productversion.Current, "", ""),
		featuregate.NewVersionedFeatureGate(version.MustParse(productversion.Current)))
	_, kubeGates := registry.ComponentGlobalsOrRegister(basecompatibility.DefaultKubeComponent,
		basecompatibility.NewEffectiveVersionFromString(baseversion.DefaultKubeBinaryVersion, "", ""),
		utilfeature.DefaultMutableFeatureGate.DeepCopy())
	if _, isKnown := kubeGates.GetAll()[logsapi.ContextualLogging]; !isKnown {
		utilruntime.Must(logsapi.AddFeatureGates(kubeGates))
	}
	// A registry that has the mapping already refuses it, and is as it should be.
	_ = registry.SetVersionMapping(productversion.Component, basecompatibility.DefaultKubeComponent, productversion.Kubernetes)
}

// Flags returns the flags, grouped by what they are about. Every call returns the same ones.
func (o *Options) Flags() cliflag.NamedFlagSets { return o.flags }

func (o *Options) addFlags(sets *cliflag.NamedFlagSets) {
	o.Storage.AddFlags(sets.FlagSet("storage"))
	o.Snapshots.AddFlags(sets.FlagSet("storage"))
	o.Recommended.Etcd.AddFlags(sets.FlagSet("storage"))
	o.StoreRecovery.AddFlags(sets.FlagSet("storage"))
	o.Controllers.AddFlags(sets)
	o.Server.AddUniversalFlags(sets.FlagSet("server"))
	o.Recommended.Features.AddFlags(sets.FlagSet("server"))
	o.Recommended.EgressSelector.AddFlags(sets.FlagSet("server"))
	o.Recommended.CoreAPI.AddFlags(sets.FlagSet("cluster"))
	o.NodePorts.AddFlags(sets.FlagSet("cluster"))
	o.PodAccess.AddFlags(sets.FlagSet("cluster"))
	o.Prometheus.AddFlags(sets.FlagSet("cluster"))
	o.Recommended.SecureServing.AddFlags(sets.FlagSet("secure serving"))
	o.ServingCertificate.AddFlags(sets.FlagSet("secure serving"))
	o.Recommended.Authentication.AddFlags(sets.FlagSet("authentication"))
	o.Recommended.Authorization.AddFlags(sets.FlagSet("authorization"))
	o.Recommended.Admission.AddFlags(sets.FlagSet("admission"))
	o.Recommended.Audit.AddFlags(sets.FlagSet("auditing"))
	o.Recommended.Traces.AddFlags(sets.FlagSet("traces"))
	logsapi.AddFlags(o.Logs, sets.FlagSet("logs"))
}

// Complete fills in what follows from other options.
func (o *Options) Complete() error {
	if err := o.Storage.Complete(o.Recommended.Etcd); err != nil {
		return err
	}
	o.Snapshots.Complete(o.Storage.DataDir)
	o.ServingCertificate.Complete(o.Recommended.SecureServing)
	return o.Server.Complete()
}

// ControllerConfiguration returns what the options say of the controllers.
func (o *Options) ControllerConfiguration() controller.Configuration {
	configuration := o.Controllers.Configuration()
	configuration.ModelBoxController.Prometheus = o.Prometheus.Config
	return configuration
}

// Validate returns every error in the options.
func (o *Options) Validate() error {
	var errs []error
	errs = append(errs, o.Server.Validate()...)
	errs = append(errs, o.Recommended.Validate()...)
	errs = append(errs, o.StoreRecovery.Validate()...)
	errs = append(errs, o.Storage.Validate()...)
	errs = append(errs, o.Snapshots.Validate()...)
	errs = append(errs, o.PodAccess.Validate()...)
	errs = append(errs, o.Prometheus.Validate()...)
	errs = append(errs, o.Controllers.Validate()...)
	errs = append(errs, o.ServingCertificate.Validate(o.Recommended.SecureServing)...)
	return utilerrors.NewAggregate(errs)
}
