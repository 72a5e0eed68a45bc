// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package options holds the command line options of modelbox-apiserver and what they become.
package options

import (
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/flagz"
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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/hostfields"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/authentication"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/authentication/frontproxy"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/clients"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/filters/bodylimit"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/policies"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/serving"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	productversion "github.com/sharelinuxs/modelbox-apiserver/pkg/version"
)

const (
	// watchTerminationGracePeriod is how long open watches may go on at shutdown. Watches through the
	// aggregation layer never end by themselves and would hold the process for a minute.
	watchTerminationGracePeriod = 2 * time.Second

	// maxRequestBodyBytes is more than any stack that is stored, with its managed fields: etcd takes 1.5 MiB in a request, and
	// JSON is up to twice as large as what is stored. It is that of the API server of Kubernetes.
	maxRequestBodyBytes = 3 << 20
)

// Options is everything that can be said on the command line.
type Options struct {
	Server        *genericoptions.ServerRunOptions
	Recommended   *genericoptions.RecommendedOptions
	Storage       *StorageOptions
	StoreRecovery *RecoveryOptions
	Snapshots     *SnapshotOptions
	Cluster       *ClusterOptions
	PodAccess     *PodAccessOptions
	Controllers   *ControllerOptions
	Logs          *logs.Options

	ServingCertificate *ServingCertificateOptions

	policies *policies.Kinds
	flags    cliflag.NamedFlagSets
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
		Cluster:       NewClusterOptions(),
		PodAccess:     NewPodAccessOptions(),
		Controllers:   NewControllerOptions(),
		Logs:          logs.NewOptions(),

		ServingCertificate: NewServingCertificateOptions(),

		policies: policies.NewKinds(),
	}
	o.Server.ShutdownWatchTerminationGracePeriod = watchTerminationGracePeriod
	o.Server.MaxRequestBodyBytes = maxRequestBodyBytes
	o.Server.JSONPatchMaxCopyBytes = bodylimit.MaxCopiedBytes
	// Of the stored bytes; objects that are stored as JSON are read all the same.
	o.Recommended.Etcd.DefaultStorageMediaType = runtime.ContentTypeProtobuf
	setAdmissionPlugins(o.Recommended.Admission, o.policies)
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
	o.Cluster.AddFlags(sets.FlagSet("cluster"))
	o.PodAccess.AddFlags(sets.FlagSet("cluster"))
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

// Validate returns every error in the options.
func (o *Options) Validate() error {
	var errs []error
	errs = append(errs, o.Server.Validate()...)
	errs = append(errs, o.Recommended.Validate()...)
	errs = append(errs, o.StoreRecovery.Validate()...)
	errs = append(errs, o.Storage.Validate()...)
	errs = append(errs, o.Snapshots.Validate()...)
	errs = append(errs, o.PodAccess.Validate()...)
	errs = append(errs, o.Controllers.Validate()...)
	errs = append(errs, o.ServingCertificate.Validate(o.Recommended.SecureServing)...)
	return utilerrors.NewAggregate(errs)
}

// Config returns the configuration of the server. The storage has to be there already: etcd is the embedded one, nil
// where an outside one is used.
func (o *Options) Config(etcd *embeddedetcd.Server) (*apiserver.Config, error) {
	if err := o.ServingCertificate.prepare(o.Recommended.SecureServing); err != nil {
		return nil, err
	}

	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title, config.OpenAPIConfig.Info.Version = "ModelBox", productversion.Current
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config.Info.Title, config.OpenAPIV3Config.Info.Version = "ModelBox", productversion.Current
	config.Flagz = flagz.NamedFlagSetsReader{FlagSets: o.Flags()}

	if err := o.Server.ApplyTo(&config.Config); err != nil {
		return nil, fmt.Errorf("applying the server options: %w", err)
	}
	config.EffectiveVersion = productversion.Serving(config.EffectiveVersion)
	recommended := *o.Recommended
	recommended.Etcd = nil // Storage applies it: see there.
	// These are applied in their order, and two of them in another way.
	recommended.EgressSelector, recommended.Traces, recommended.SecureServing, recommended.CoreAPI = nil, nil, nil, nil
	if err := o.Recommended.EgressSelector.ApplyTo(&config.Config); err != nil {
		return nil, fmt.Errorf("applying the egress options: %w", err)
	}
	if err := o.Recommended.Traces.ApplyTo(config.EgressSelector, &config.Config); err != nil {
		return nil, fmt.Errorf("applying the tracing options: %w", err)
	}
	if err := serving.ApplyTo(o.Recommended.SecureServing.SecureServingOptions, &config.Config); err != nil {
		return nil, err
	}
	if err := clients.ApplyTo(o.Recommended.CoreAPI, config); err != nil {
		return nil, err
	}
	storageQuota, err := storage.NewQuota(etcd, o.Storage.namespaceLimit(etcd, debug.SetMemoryLimit(-1)), &config.Config)
	if err != nil {
		return nil, err
	}
	var host *hostcluster.Cluster
	recommended.ExtraAdmissionInitializers = func(config *genericapiserver.RecommendedConfig) ([]admission.PluginInitializer, error) {
		var err error
		if host, err = clients.NewHostCluster(config); err != nil {
			return nil, err
		}
		return []admission.PluginInitializer{storageQuota, quotaInitializer(), hostfields.Initializer{Cluster: host}}, o.policies.Find(config)
	}
	if err := recommended.ApplyTo(config); err != nil {
		return nil, fmt.Errorf("applying the options: %w", err)
	}
	if err := o.Storage.ApplyTo(o.Recommended.Etcd, &config.Config); err != nil {
		return nil, fmt.Errorf("applying the storage options: %w", err)
	}
	if err := o.ServingCertificate.ApplyTo(config); err != nil {
		return nil, err
	}
	if err := authentication.RequireClientCA(config, recommended.Authentication); err != nil {
		return nil, err
	}
	frontproxy.Trust(&config.Config)
	result := &apiserver.Config{GenericConfig: config}
	result.ExtraConfig.HostCluster = host
	if result.ExtraConfig.BoxChildren, result.ExtraConfig.BoxDiffer, err = clients.NewBoxChildren(config, host); err != nil {
		return nil, err
	}
	if result.ExtraConfig.Recorder, err = clients.NewRecorder(config); err != nil {
		return nil, err
	}
	o.Cluster.ApplyTo(&result.ExtraConfig)
	if err := o.PodAccess.ApplyTo(result); err != nil {
		return nil, err
	}
	return result, nil
}
