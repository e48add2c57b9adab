process KMATCH {
    tag "${meta.id}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/kmatch-dna:2.0.0--pyhdfd78af_0'
        : 'quay.io/biocontainers/kmatch-dna:2.0.0--pyhdfd78af_0'}"

    input:
    tuple val(meta), path(queries)
    tuple val(meta2), path(genomes)
    val command
    val k

    output:
    tuple val(meta), path("${prefix}.tsv"), emit: tsv, optional: true
    tuple val(meta), path("${prefix}_kept.fast{a,q}.gz"), emit: kept, optional: true
    tuple val(meta), path("${prefix}/*"), emit: split, optional: true
    tuple val(meta), path("${prefix}.html"), emit: html, optional: true
    tuple val(meta), path("${prefix}_mqc.json"), emit: json
    tuple val("${task.process}"), val('kmatch'), eval("kmatch --version | cut -d ' ' -f 2"), emit: versions_kmatch, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def letters = task.ext.letters ?: 'fastq'
    prefix = task.ext.prefix ?: "${meta.id}"
    def files = command in ['primer', 'guides', 'assay'] ? "${queries} ${genomes}" : "${genomes} ${queries}"
    def differences = command == 'best' ? '' : "-k ${k}"
    def folder = command == 'demux' ? "--split ${prefix}" : ''
    def page = task.ext.html ? "--html ${prefix}.html" : ''
    def output = command == 'filter' ? "${prefix}_kept.${letters}.gz" : "${prefix}.tsv"
    """
    kmatch ${command} \\
        ${files} \\
        ${differences} \\
        ${folder} \\
        ${page} \\
        ${args} \\
        --threads ${task.cpus} \\
        --json ${prefix}_mqc.json \\
        --output ${output}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.tsv ${prefix}_mqc.json
    """
}
