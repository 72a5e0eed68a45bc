// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/hostfields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/podaccess"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/authentication"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/authentication/frontproxy"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/filters"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/hostclients"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/policies"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/serving"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/servingcertificate"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
	productversion "github.com/sharelinuxs/modelbox-apiserver/pkg/version"
)

// minObservePeriod keeps a server without leader election, whose periods are not checked, from asking all the time.
const minObservePeriod = 100 * time.Millisecond

// Config is what the server is made from.
type Config struct {
	// APIs is the configuration of the API server.
	APIs *apiserver.Config
	// Recovery is what looks at the store before the server is ready, and as long as it runs.
	Recovery *recovery.Runner
	// Identity names this process to other servers.
	Identity string
}

// NewConfig returns the configuration of the server, with all checks and hooks except for the checks and hooks of controllers. The
// storage must exist already. etcd is the embedded etcd, nil for an external etcd. fail ends the server.
func NewConfig(o *options.Options, etcd *embeddedetcd.Server, fail context.CancelCauseFunc) (*Config, error) {
	config, host, err := newGenericConfig(o, etcd)
	if err != nil {
		return nil, err
	}
	identity, err := storage.Identity(o.Storage.DataDir)
	if err != nil {
		return nil, err
	}
	storageConfig, err := newStorageConfig(o, identity, config.ClientConfig, fail)
	if err != nil {
		return nil, err
	}
	runner, err := storageConfig.ApplyTo(o.Recommended.Etcd, &config.Config)
	if err != nil {
		return nil, err
	}
	if err := serveWithCertificate(o.ServingCertificate, config); err != nil {
		return nil, err
	}
	if err := authentication.RequireClientCA(config, o.Recommended.Authentication); err != nil {
		return nil, err
	}
	frontproxy.Trust(&config.Config)
	chain := filters.Config{Scheme: apiserver.Scheme, Store: runner, Shortage: storage.Shortage(etcd)}
	if err := chain.ApplyTo(&config.Config); err != nil {
		return nil, err
	}
	if err := storage.AddRecovery(&config.Config, runner, fail); err != nil {
		return nil, err
	}
	extra, err := newExtraConfig(o, config, host)
	if err != nil {
		return nil, err
	}
	return &Config{
		APIs:     &apiserver.Config{GenericConfig: config, ExtraConfig: extra},
		Recovery: runner,
		Identity: identity,
	}, nil
}

// newGenericConfig returns the configuration of the generic API server as the options say, but for its storage and its handler chain,
// and the cluster that children are in.
func newGenericConfig(o *options.Options, etcd *embeddedetcd.Server) (*genericapiserver.RecommendedConfig, *hostcluster.Cluster, error) {
	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title, config.OpenAPIConfig.Info.Version = "ModelBox", productversion.Current
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config.Info.Title, config.OpenAPIV3Config.Info.Version = "ModelBox", productversion.Current
	config.Flagz = flagz.NamedFlagSetsReader{FlagSets: o.Flags()}
	config.LongRunningFunc = genericfilters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString("log", "exec", "attach", "portforward"))

	if err := o.Server.ApplyTo(&config.Config); err != nil {
		return nil, nil, fmt.Errorf("applying the server options: %w", err)
	}
	config.EffectiveVersion = productversion.Serving(config.EffectiveVersion)
	recommended := *o.Recommended
	recommended.Etcd = nil // the storage applies it: see there
	// These are applied in their order, and two of them in another way.
	recommended.EgressSelector, recommended.Traces, recommended.SecureServing, recommended.CoreAPI = nil, nil, nil, nil
	if err := o.Recommended.EgressSelector.ApplyTo(&config.Config); err != nil {
		return nil, nil, fmt.Errorf("applying the egress options: %w", err)
	}
	if err := o.Recommended.Traces.ApplyTo(config.EgressSelector, &config.Config); err != nil {
		return nil, nil, fmt.Errorf("applying the tracing options: %w", err)
	}
	if err := createSelfSignedCertificate(o); err != nil {
		return nil, nil, err
	}
	if err := serving.ApplySecureServing(o.Recommended.SecureServing.SecureServingOptions, &config.Config); err != nil {
		return nil, nil, err
	}
	if err := hostclients.ApplyCoreAPI(o.Recommended.CoreAPI, config); err != nil {
		return nil, nil, err
	}
	namespaceLimit := storage.NamespaceLimit(o.Storage.MaxNamespaceBytes, etcd, debug.SetMemoryLimit(-1))
	storageQuota, err := storage.NewQuota(etcd, namespaceLimit, &config.Config)
	if err != nil {
		return nil, nil, err
	}
	host, err := hostclients.NewHostCluster(config)
	if err != nil {
		return nil, nil, err
	}
	policyKinds := policies.NewKinds()
	recommended.ExtraAdmissionInitializers = func(config *genericapiserver.RecommendedConfig) ([]admission.PluginInitializer, error) {
		return []admission.PluginInitializer{storageQuota, storage.ObjectCountQuota(), hostfields.Initializer{Cluster: host}, policyKinds}, policyKinds.Find(config)
	}
	if err := recommended.ApplyTo(config); err != nil {
		return nil, nil, fmt.Errorf("applying the options: %w", err)
	}
	return config, host, nil
}

// newStorageConfig returns the configuration of the storage. identity names this process to other servers.
func newStorageConfig(o *options.Options, identity string, cluster *rest.Config, fail context.CancelCauseFunc) (storage.Config, error) {
	config := storage.Config{
		EnableWatchCache: o.Recommended.Etcd.EnableWatchCache,
		Fail:             fail,
		Recovery: recovery.Config{
			Policy:        o.StoreRecovery.Policy,
			IsExclusive:   o.Storage.DataDir != "",
			Holder:        identity,
			ObservePeriod: max(o.Controllers.LeaderElection.RetryPeriod.Duration, minObservePeriod),
		},
	}
	if election := o.Controllers.LeaderElection; election.LeaderElect {
		config.Recovery.Lease = types.NamespacedName{Namespace: election.ResourceNamespace, Name: election.ResourceName}
	}
	return config, config.Recovery.SetClients(cluster)
}

// newExtraConfig returns the configuration of the API groups.
func newExtraConfig(o *options.Options, config *genericapiserver.RecommendedConfig, host *hostcluster.Cluster) (apiserver.ExtraConfig, error) {
	extra := apiserver.ExtraConfig{HostCluster: host, NodePortRange: o.NodePorts.Range, NoPrometheus: o.Prometheus.URL == "", WatchesSecrets: o.Controllers.References.WatchesSecrets}
	var err error
	if extra.BoxChildren, extra.BoxDiffer, err = hostclients.NewBoxChildren(config, host); err != nil {
		return extra, err
	}
	if extra.Recorder, err = hostclients.NewRecorder(config); err != nil {
		return extra, err
	}
	// Requests for pods last as long as their users like, like the subresources of the same names in kube-apiserver. At a shutdown,
	// they end when the server has answered all other requests.
	extra.PodAccess, err = podaccess.New(rest.AddUserAgent(rest.CopyConfig(config.ClientConfig), "pod-access"), o.PodAccess.Limits(), config.DrainedNotify())
	return extra, err
}

// createSelfSignedCertificate creates the certificate that the server serves with, before it is read from its files.
func createSelfSignedCertificate(o *options.Options) error {
	if o.ServingCertificate.Mode != options.ServingCertificateSelfSigned {
		return nil
	}
	if err := o.Recommended.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return fmt.Errorf("creating a self-signed serving certificate: %w", err)
	}
	return nil
}

// serveWithCertificate lets the server serve with certificates that it issues, where it does. Of certificates in files it measures
// when they expire.
func serveWithCertificate(o *options.ServingCertificateOptions, config *genericapiserver.RecommendedConfig) error {
	if config.SecureServing == nil {
		return nil
	}
	switch o.Mode {
	case options.ServingCertificateIssued:
		secret, err := o.SecretKey()
		if err != nil {
			return err
		}
		return serving.IssueCertificate(config, servingcertificate.Config{Secret: secret, Hosts: o.Hosts, Lifetime: o.Lifetime, CALifetime: o.CALifetime})
	case options.ServingCertificateFiles:
		return servingcertificate.MeasureExpiration(config.SecureServing.Cert)
	}
	return nil
}
